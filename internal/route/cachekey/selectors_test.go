package cachekey_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/cachekey"
)

// request has the lines of its fields by canonical name.
type request map[string][]string

func (r request) lines(name string) [][]byte {
	var out [][]byte
	for _, line := range r[name] {
		out = append(out, []byte(line))
	}
	return out
}

// selectors are what a key says behind its URL part: the values by the name of a
// header or cookie, in order, or the Cookie lines.
type selectors struct {
	headers, cookies map[string][]string
	lines            []string
	whole            bool
}

var errKey = errors.New("not a key")

// reader reads a key back. It knows the form by its description alone.
type reader struct{ rest []byte }

func (r *reader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		panic(errKey)
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) part() string {
	n := r.number()
	part := string(r.rest[:n])
	r.rest = r.rest[n:]
	return part
}

func (r *reader) list() []string {
	out := make([]string, r.number())
	for i := range out {
		out[i] = r.part()
	}
	return out
}

func (r *reader) one() byte {
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

// read takes the selectors off the front of key and returns what is left.
func read(tb testing.TB, key []byte) (s selectors, rest []byte) {
	tb.Helper()
	r := reader{rest: key}
	if r.one() != 0 {
		tb.Fatalf("%q: got no opening byte 0", key)
	}
	s = selectors{headers: map[string][]string{}, cookies: map[string][]string{}}
	for range r.number() {
		name := r.part()
		s.headers[name] = r.list()
	}
	count := r.number()
	if count == 0 {
		return s, r.rest
	}
	s.whole = r.one() == 'w'
	for range count {
		name := r.part()
		s.cookies[name] = nil
		for !s.whole && r.one() == 1 {
			s.cookies[name] = append(s.cookies[name], r.part())
		}
	}
	if s.whole {
		s.lines = r.list()
	}
	return s, r.rest
}

func TestAppendSelectorsKeysTheNamedFieldsOnly(t *testing.T) {
	r := rules(t, cachekey.Options{Headers: []string{"x-b", "X-A", "x-B"}})
	f := func(in request, a, b []string) {
		t.Helper()
		got, rest := read(t, r.AppendSelectors(nil, in.lines))
		if len(rest) != 0 || len(got.headers) != 2 || !slices.Equal(got.headers["X-A"], a) || !slices.Equal(got.headers["X-B"], b) {
			t.Errorf("%v: got %v and %q behind it, want X-A %q, X-B %q", in, got.headers, rest, a, b)
		}
	}

	f(request{}, nil, nil)
	f(request{"X-A": {""}}, []string{""}, nil)
	f(request{"X-A": {" 1\t"}, "X-C": {"3"}}, []string{"1"}, nil)
	f(request{"X-A": {"1", "2"}, "X-B": {"1, 2"}}, []string{"1", "2"}, []string{"1, 2"})
}

func TestAppendSelectorsFindsCookies(t *testing.T) {
	r := rules(t, cachekey.Options{Cookies: []string{"id", "lang"}})
	f := func(id, lang []string, lines ...string) {
		t.Helper()
		got, rest := read(t, r.AppendSelectors(nil, request{"Cookie": lines}.lines))
		if got.whole || len(rest) != 0 || !slices.Equal(got.cookies["id"], id) || !slices.Equal(got.cookies["lang"], lang) {
			t.Errorf("%q: got %+v, want id %q, lang %q", lines, got, id, lang)
		}
	}

	f(nil, nil)
	f(nil, nil, "")
	f(nil, nil, "session=5; ID=6; lan=7")
	f([]string{"1"}, []string{"en"}, "session=5; id=1; lang=en")
	f([]string{"1"}, nil, "id=1;a=b")
	f([]string{"1", "2"}, nil, "id=1; x=2; id=2")
	f([]string{""}, nil, "id=")
	f([]string{"a=b==", `"q"`, `""`}, nil, `id=a=b==; id="q"; id=""`)
	f([]string{"1"}, nil, "a.b=2; id=1; c%d=(3)[4]")
}

// What parsers read in different ways must be in the key as it is.
func TestCookiesThatCanBeReadInTwoWaysAreKeyedWhole(t *testing.T) {
	r := rules(t, cachekey.Options{Cookies: []string{"id"}})
	for _, lines := range [][]string{
		{`x="a; id=5; y=b"`},
		{`x="a; y=b"; id=5`},
		{`$Version=1; id=5`},
		{`id=5; $Path=/`},
		{`x=1,id=5`},
		{`x=1, id=5`},
		{`x=1 id=5`},
		{`x="a\"; id=5`},
		{`x=a\; id=5`},
		{`x"=1; id=5`},
		{`id="`},
		{`=id; id=5`},
		{`id; id=5`},
		{"x=\x01; id=5"},
		{"x=\xff; id=5"},
		{"x\t=1; id=5"},
		{"id =5"},
		{"id= 5"},
		{";id=5"},
		{"id=5;"},
		{"x=6;; id=5"},
		{"x=6;  id=5"},
		{"x=6;\tid=5"},
		{"x=6 ; id=5"},
		{"a[b]=1; id=5"},
		{"a(b)=1; id=5"},
		{"Path=/; id=5"},
		{"id=5; max-age=1"},
		{strings.Repeat("x=1; ", 180) + "id=5"},
		{"id=5", "id=6"},
		{"id=5", "x=6"},
		{"", ""},
	} {
		got, rest := read(t, r.AppendSelectors(nil, request{"Cookie": lines}.lines))
		if !got.whole || !slices.Equal(got.lines, lines) || len(rest) != 0 {
			t.Errorf("%q: got %+v, want the lines whole", lines, got)
		}
	}
}

// A client that has two readings for one key could fill it with the answer to the other.
func TestNamedCookiesWithTwoReadingsAreAmbiguous(t *testing.T) {
	r := rules(t, cachekey.Options{Cookies: []string{"id", "the_lang"}})
	f := func(want bool, lines ...string) {
		t.Helper()
		if got := r.Ambiguous((request{"Cookie": lines}).lines("Cookie")); got != want {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
	}
	f(false)
	f(false, "")
	f(false, "id=5")
	f(false, "x=1; id=5; the_lang=de; y=2")
	f(false, "ids=1; xid=2; id.x=3; the_lang2=4")
	f(true, `x="a; id=5"`)
	f(true, "id=5", "x=1")
	f(true, "id=5; x=1; id=5") // which one?
	f(true, "id=5; ID=6")
	f(true, "Id=6")
	f(true, "%69d=6; id=5")
	f(true, "the.lang=de")
	f(true, "the_lang=de; the%5Flang=en")
	f(true, "the-lang=de")
	f(true, "id%5B0]=6")
	if (&cachekey.Rules{}).Ambiguous([][]byte{[]byte("="), nil}) {
		t.Error("without cookie rules: got an ambiguous request")
	}
}

func TestCookieNames(t *testing.T) {
	names := cachekey.CookieNames{"session", "wp_*"}
	for line, want := range map[string]bool{
		"": false, "session=1": true, "a=1; session=": true, "sessions=1": false, "wp_x=1": true, "wp_=1": true, "wp=1": false,
		"a=session": false, "Session=1": true, "sess%69on=1": true, "WP.x=1": true, "a=1;wp-x=2": true,
	} {
		if got := names.Found([]byte(line)); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

func TestCookiesThatAreStrippedOrKept(t *testing.T) {
	type names = cachekey.CookieNames
	f := func(strip, keep names, line, want string, found bool) {
		t.Helper()
		filter := cachekey.NewCookieFilter(strip, keep, nil, &cachekey.Rules{})
		got, ok := filter.AppendOthers([]byte("x"), []byte(line))
		if ok != found || string(got) != "x"+want || filter.Active() != (len(strip)+len(keep) > 0) {
			t.Errorf("%q: got %q %v, want %q %v", line, got, ok, want, found)
		}
	}
	strip := names{"session", "wp_*"}
	f(nil, nil, "a=1", "", false)
	f(strip, nil, "a=1;b=2;", "", false)
	f(strip, nil, "Session=1", "", false)
	f(strip, nil, "session=1", "", true)
	f(strip, nil, "a=1;session=2 ; b=3;;", "a=1; b=3", true)
	f(strip, nil, "wp_a=1; wp_b=2; wp=3", "wp=3", true)
	f(strip, nil, `a="1; session=2"; session`, `a="1`, true)
	f(nil, strip, "session=1; wp_=2", "", false)
	f(nil, strip, "session=1; SESSION=2; sessions=3", "session=1", true)
	f(nil, strip, `a="1; session=2"; b; wp_a=1`, `session=2"; wp_a=1`, true)
	f(nil, strip, "a=1; b", "", true)
	f(nil, names{"*"}, "a=1; b;", "", false)
}

func TestACookieThatARuleNamesWasStripped(t *testing.T) {
	type names = cachekey.CookieNames
	f := func(strip, keep names, line, want string) {
		t.Helper()
		filter := cachekey.NewCookieFilter(strip, keep, names{"session", "wp_*"}, rules(t, cachekey.Options{Cookies: []string{"lang"}}))
		got, ok := filter.AppendOthers(nil, []byte(line))
		if !ok {
			got = []byte(line)
		}
		if string(got) != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	f(names{"*"}, nil, "a=1; session=2; wp_x=3; lang=de; sessions=4", "session=2; wp_x=3; lang=de")
	f(names{"session", "lang"}, nil, "session=2; lang=de", "session=2; lang=de")
	// What some origin takes for one of them stays as well: the rule looks for it.
	f(names{"*"}, nil, "a=1; SESSION=2; session[0]=3; %6cang=4; wp.y=5", "SESSION=2; session[0]=3; %6cang=4; wp.y=5")
	f(nil, names{"b"}, "a=1; b=2; session=3; lang=de", "b=2; session=3; lang=de")
}

func TestOtherCookies(t *testing.T) {
	f := func(want string, lines ...string) {
		t.Helper()
		var in [][]byte
		for _, line := range lines {
			in = append(in, []byte(line))
		}
		var got []string
		for name := range rules(t, cachekey.Options{Cookies: []string{"lang"}}).OtherCookies(in) {
			got = append(got, string(name))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
	f("")
	f("", "lang=de", "")
	f("a b c", "a=1; lang=de;b", "c=2")
	f("Lang", `"x=1; Lang=2; $v=1; é=2; =3; a b=4; ;`)
}

// TestKeysOfOtherRequestsOrRulesDiffer builds whole keys, as the proxy does, from
// requests that try to imitate each other over all rules.
func TestKeysOfOtherRequestsOrRulesDiffer(t *testing.T) {
	options := []cachekey.Options{
		{},
		{Headers: []string{"X-A"}},
		{Headers: []string{"X-B"}},
		{Headers: []string{"X-A", "X-B"}},
		{Cookies: []string{"X-A"}},
		{Cookies: []string{"X-A", "X-B"}},
		{Headers: []string{"X-A"}, Cookies: []string{"X-B"}},
	}
	requests := []request{
		{},
		{"X-A": {"1"}},
		{"X-A": {"1", ""}},
		{"X-A": {"1\x03X-B\x011"}},
		{"X-A": {"\x00\x01\x03X-A\x01\x011"}},
		{"X-A": {"1"}, "X-B": {"1"}},
		{"Cookie": {"X-A=1"}},
		{"Cookie": {"X-A=1; X-B=1"}},
		{"Cookie": {"X-A=1, X-B=1"}},
		{"X-A": {"1"}, "Cookie": {"X-B=1"}},
	}
	varies := [][]string{nil, {"X-A"}, {"X-A", "X-B"}}
	seen := map[string]string{}
	for i, o := range options {
		r := rules(t, o)
		for _, vary := range varies {
			own := map[string]bool{} // requests that these rules cannot tell apart
			for _, in := range requests {
				key := wire.AppendKey(nil, "http", []byte("a"), r.AppendTarget(nil, []byte("/x")))
				key = r.AppendSelectors(key, in.lines)
				for _, name := range vary {
					key = rfc9111.AppendVariantField(key, name, in.lines(name))
				}
				own[string(key)] = true
			}
			for key := range own {
				what := fmt.Sprintf("rules %d, Vary %v", i, vary)
				if other, taken := seen[key]; taken {
					t.Errorf("%s: got a key of %s: %q", what, other, key)
				}
				seen[key] = what
			}
		}
	}
}

// Purges go by the URL part, so it must stand first and be that of the URL alone.
func TestURLPartStandsFirst(t *testing.T) {
	r := rules(t, cachekey.Options{IgnoreQuery: []string{"u"}, Headers: []string{"X-A"}, Cookies: []string{"id"}})
	url := wire.AppendKey(nil, "http", []byte("a"), []byte("/x?b"))
	for _, raw := range []string{"/x?b", "/x?u=1&b", "/x?b&u"} {
		key := wire.AppendKey(nil, "http", []byte("a"), r.AppendTarget(nil, []byte(raw)))
		key = r.AppendSelectors(key, request{"X-A": {raw}}.lines)
		if !bytes.HasPrefix(key, url) || key[len(url)] != 0 {
			t.Errorf("%s: got %q, want %q and selectors behind it", raw, key, url)
		}
	}
}

func TestRulesInAnyOrderGiveOneKey(t *testing.T) {
	one := rules(t, cachekey.Options{Headers: []string{"X-A", "X-B"}, Cookies: []string{"c", "d"}})
	two := rules(t, cachekey.Options{Headers: []string{"x-b", "x-a", "X-B"}, Cookies: []string{"d", "c", "d"}})
	in := request{"X-A": {"1"}, "Cookie": {"d=1; c=2"}}
	if a, b := one.AppendSelectors(nil, in.lines), two.AppendSelectors(nil, in.lines); !bytes.Equal(a, b) {
		t.Errorf("got %q and %q, want the same", a, b)
	}
}

func TestWithoutRulesNothingIsSelected(t *testing.T) {
	for _, r := range []*cachekey.Rules{{}, rules(t, cachekey.Options{}), rules(t, cachekey.Options{SortQuery: true})} {
		got := r.AppendSelectors([]byte("k"), func(name string) [][]byte {
			t.Errorf("asked for %s, want no question", name)
			return nil
		})
		if string(got) != "k" || r.Selects() {
			t.Errorf("got %q and %v, want nothing added", got, r.Selects())
		}
	}
}

func TestImitatesFindsOtherSpellingsOfKeyedFields(t *testing.T) {
	r := rules(t, cachekey.Options{Headers: []string{"X-Device-Type", "X_Kind"}})
	for name, want := range map[string]bool{
		"X-Device-Type": false, "X_kind": false, // keyed themselves
		"X_device-Type": true, "X-Device_type": true, "X_device_type": true, "X-Kind": true,
		"X-Device": false, "X-Device-Type2": false, "Xkind": false, "Accept": false,
	} {
		if got := r.Imitates(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func FuzzAppendSelectors(f *testing.F) {
	f.Add("1", "2", "id=1; x=2", "")
	f.Add("", "\x00", `x="a; id=5; y=b"`, "id=2")
	f.Add(" a ", "a, b", "id=1; id=2;;=", "\x00\x01w")
	f.Add("$", strings.Repeat("x", 300), "$Version=1; id=2", ",")
	r := rules(f, cachekey.Options{Headers: []string{"X-A"}, Cookies: []string{"id", "x"}})
	f.Fuzz(func(t *testing.T, a, b, cookie, other string) {
		in := request{"X-A": {a, b}, "Cookie": {cookie}}
		if other != "" {
			in["Cookie"] = append(in["Cookie"], other)
		}
		const overhead = 64
		key := r.AppendSelectors(nil, in.lines)
		if limit := len(a) + len(b) + 2*len(cookie) + len(other) + overhead; len(key) > limit {
			t.Errorf("got %d bytes, want at most %d", len(key), limit)
		}
		got, rest := read(t, append(key, "rest"...))
		if string(rest) != "rest" {
			t.Fatalf("%q: got %q behind the selectors, want rest", in, rest)
		}
		want := []string{strings.Trim(a, " \t"), strings.Trim(b, " \t")}
		if !slices.Equal(got.headers["X-A"], want) {
			t.Errorf("%q: got X-A %q, want %q", in, got.headers["X-A"], want)
		}
		if got.whole {
			if len(got.lines) != len(in["Cookie"]) {
				t.Errorf("%q: got %d lines, want %d", in, len(got.lines), len(in["Cookie"]))
			}
			return
		}
		for _, name := range []string{"id", "x"} {
			if want := naiveCookies(cookie, name); !slices.Equal(got.cookies[name], want) {
				t.Errorf("%q: got %s %q, want %q", in, name, got.cookies[name], want)
			}
		}
	})
}

func naiveCookies(line, name string) (values []string) {
	for piece := range strings.SplitSeq(line, ";") {
		if value, found := strings.CutPrefix(strings.Trim(piece, " \t"), name+"="); found {
			values = append(values, value)
		}
	}
	return values
}

func BenchmarkAppendSelectors(b *testing.B) {
	r := rules(b, cachekey.Options{Headers: []string{"X-Device"}, Cookies: []string{"lang", "currency"}})
	device := [][]byte{[]byte("mobile")}
	cookie := [][]byte{[]byte("session=0123456789abcdef0123456789abcdef; lang=en; _ga=GA1.2.123456789.1700000000; currency=EUR; theme=dark")}
	lines := func(name string) [][]byte {
		if name == "Cookie" {
			return cookie
		}
		return device
	}
	dst := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		dst = r.AppendSelectors(dst[:0], lines)
	}
}

func TestReadsNamesWhatSelectorsAreMadeOf(t *testing.T) {
	f := func(o cachekey.Options, name string, want bool) {
		t.Helper()
		r, err := cachekey.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Reads(name); got != want {
			t.Errorf("%+v: Reads(%q): got %v, want %v", o, name, got, want)
		}
	}
	f(cachekey.Options{}, "Cookie", false)
	f(cachekey.Options{Headers: []string{"x-lang", "authorization"}}, "Authorization", true)
	f(cachekey.Options{Headers: []string{"x-lang", "authorization"}}, "X-Lang", true)
	f(cachekey.Options{Headers: []string{"x-lang"}}, "X_lang", false)
	f(cachekey.Options{Headers: []string{"x-lang"}}, "Cookie", false)
	f(cachekey.Options{Cookies: []string{"theme"}}, "Cookie", true)
	f(cachekey.Options{Cookies: []string{"theme"}}, "Theme", false)
}

func TestAllCookiesAreInTheKey(t *testing.T) {
	r := rules(t, cachekey.Options{Cookies: []string{"id", "lang"}})
	f := func(want bool, lines ...string) {
		t.Helper()
		if got := r.HasAllCookies((request{"Cookie": lines}).lines("Cookie")); got != want {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
	}
	f(true)
	f(true, "")
	f(true, "id=5")
	f(true, "lang=de; id=5")
	f(true, "id=")
	f(false, "id=5; user=1")
	f(false, "user=1")
	f(false, "ID=5")
	f(false, "ids=5")
	f(false, "id")
	f(false, "id=5; ")
	f(false, "id=5", "lang=de")
	if (&cachekey.Rules{}).HasAllCookies([][]byte{[]byte("id=5")}) {
		t.Error("without cookie rules: got a cookie in the key")
	}
}
