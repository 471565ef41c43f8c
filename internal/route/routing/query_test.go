package routing

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/cachekey"
)

func takesQuery(m ValueMatch, query string) bool {
	return (&Match{Query: []ValueMatch{m}}).TakesQuery([]byte(query), new([]byte))
}

func TestAQueryIsComparedDecoded(t *testing.T) {
	f := func(m ValueMatch, query string, want bool) {
		t.Helper()
		if got := takesQuery(m, query); got != want {
			t.Errorf("%+v, %s: got %v, want %v", m, query, got, want)
		}
	}
	exact := ValueMatch{Name: "a", Value: []byte("1")}
	for _, query := range []string{
		"a=1", "b=2&a=1", "a=1&b=2", "&&a=1&", "a=2&a=1", "a&a=1", "%61=1", "a=%31", "a=1&a=2", "=&a=1", "b=%&a=1",
	} {
		f(exact, query, true)
	}
	for _, query := range []string{
		"", "a", "a=", "A=1", "a=11", "a=01", "aa=1", "ba=1", "a =1", "a=1;b=2", "b=2;a=1", "a;a=1", "a=1=", "a==1", "a=+1", "a=%201", "a%=1", "%6=1", "%2561=1", "a=%2531", "a%00=1",
		"b=a=1", "?a=1", "a%3D1", "b%26a=1", "=1", "a[]=1",
	} {
		f(exact, query, false)
	}
	f(ValueMatch{Name: "a b", Value: []byte("c d")}, "a+b=c%20d", true)
	f(ValueMatch{Name: "a b", Value: []byte("c d")}, "a%20b=c+d", true)
	f(ValueMatch{Name: "a+b", Value: []byte("c+d")}, "a%2bb=c%2Bd", true)
	f(ValueMatch{Name: "a+b", Value: []byte("c+d")}, "a+b=c+d", false)
	f(ValueMatch{Name: "é", Value: []byte("/")}, "%c3%A9=%2f", true)
	f(ValueMatch{Name: "é", Value: []byte("/")}, "\xc3\xa9=/", true)
	f(ValueMatch{Name: "100%", Value: []byte("%zz%4")}, "100%=%zz%4", true)
	f(ValueMatch{Name: "100%", Value: []byte("%zz%4")}, "100%25=%25zz%254", true)
	f(ValueMatch{Name: "a", Value: []byte("b=c&d")}, "a=b=c%26d", true)

	f(ValueMatch{Name: "a", AnyBefore: true, AnyBehind: true}, "b&a", true)
	f(ValueMatch{Name: "a", AnyBefore: true, AnyBehind: true}, "a=", true)
	f(ValueMatch{Name: "a", AnyBefore: true, AnyBehind: true}, "ab", false)
	f(ValueMatch{Name: "a", Value: []byte("de"), AnyBehind: true}, "a=%64e-at", true)
	f(ValueMatch{Name: "a", Value: []byte("de"), AnyBehind: true}, "a=ade&a=%64e", true)
	f(ValueMatch{Name: "a", Value: []byte("x y"), AnyBefore: true}, "a=y&a=%78x+y", true)
	f(ValueMatch{Name: "a", Value: []byte("x y"), AnyBefore: true, AnyBehind: true}, "a=-x%20y-", true)
	f(ValueMatch{Name: "a", Value: []byte("x y"), AnyBefore: true, AnyBehind: true}, "a=-x%2By-", false)
	f(ValueMatch{}, "&&", false) // no name, no parameter
}

func TestEachParameterHasToHold(t *testing.T) {
	m := &Match{Query: []ValueMatch{{Name: "a", Value: []byte("1")}, {Name: "b", AnyBefore: true, AnyBehind: true}}}
	for query, want := range map[string]bool{"a=1&b": true, "b=2&x&a=1": true, "a=1": false, "b": false, "a=2&b": false, "": false} {
		if got := m.TakesQuery([]byte(query), new([]byte)); got != want {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	if none := (&Match{}); !none.TakesQuery(nil, nil) {
		t.Error("a match without conditions does not take a request without a query")
	}
}

// randomQuery is made of what parsers may take for the border of something.
func randomQuery(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString([]string{"a", "a", "b", "B", "=", "&", "&", "+", "%", "%61", "%41", "%3d", "%26", "%2B", "%c3", "1", "6", ";", "?", "/", "\xc3"}[r.IntN(21)])
	}
	return b.String()
}

func randomMatch(r *rand.Rand) ValueMatch {
	word := func(most int) string {
		b := make([]byte, r.IntN(most))
		for i := range b {
			b[i] = "aB1 +%=&"[r.IntN(8)]
		}
		return string(b)
	}
	m := ValueMatch{Name: "a" + word(2), Value: []byte(word(3))}
	m.AnyBefore, m.AnyBehind = r.IntN(3) == 0, r.IntN(3) == 0
	return m
}

// TestAQueryIsReadAsOthersReadIt compares with net/url, where that has no error, and with what else reads
// queries here: the rules for keys, and those of No-Vary-Search.
func TestAQueryIsReadAsOthersReadIt(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	held := 0
	for range 100_000 {
		query, m := randomQuery(r), randomMatch(r)
		got := takesQuery(m, query)
		if got {
			held++
		}
		if values, err := url.ParseQuery(query); err == nil {
			if want := slices.ContainsFunc(values[m.Name], func(v string) bool { return m.holds([]byte(v)) }); got != want {
				t.Fatalf("%+v, %q: got %v, net/url reads %q", m, query, got, values)
			}
		}
		normal := rfc9111.NoVarySearch{Unordered: true}
		if canonical := string(normal.AppendQuery(nil, []byte(query))); takesQuery(m, canonical) != got {
			t.Fatalf("%+v, %q: got %v, and not so of %q", m, query, got, canonical)
		}
		name := ValueMatch{Name: m.Name, AnyBefore: true, AnyBehind: true}
		if strings.Contains(m.Name, "*") {
			continue
		}
		only, err := cachekey.New(cachekey.Options{OnlyQuery: []string{m.Name}, SortQuery: r.IntN(2) == 0})
		if err != nil {
			t.Fatal(err)
		}
		kept := only.AppendTarget(nil, []byte("/?"+query))
		if there := takesQuery(name, query); there != (len(kept) > 1) {
			t.Fatalf("%q in %q: got %v, rules for keys keep %q", m.Name, query, there, kept)
		}
	}
	if held < 500 {
		t.Errorf("got %d queries that held, want more for a test", held)
	}
}

// TestFewerParametersHoldForNoMore: a key that has lost parameters is none of a route that did not take the request.
func TestFewerParametersHoldForNoMore(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50_000 {
		query, m := randomQuery(r), randomMatch(r)
		rules, err := cachekey.New(cachekey.Options{IgnoreQuery: []string{randomMatch(r).Name}, SortQuery: r.IntN(2) == 0})
		if err != nil {
			t.Fatal(err)
		}
		_, kept, _ := bytes.Cut(rules.AppendTarget(nil, []byte("/?"+query)), []byte("?"))
		before, after := takesQuery(m, query), takesQuery(m, string(kept))
		if after && !before || before && !after && rules.KeepsParameter(m.Name) {
			t.Fatalf("%+v: got %v of %q, and %v of %q", m, before, query, after, kept)
		}
	}
}

func FuzzTakesQuery(f *testing.F) {
	f.Add("a", "1", false, false, "b=2&%61=%31")
	f.Add("a b", "c", true, true, "a+b=%63;d&&=")
	f.Add("é", "%", true, false, "%c3%a9=%")
	f.Fuzz(func(t *testing.T, name, value string, before, behind bool, query string) {
		m := ValueMatch{Name: name, Value: []byte(value), AnyBefore: before, AnyBehind: behind}
		got := takesQuery(m, query)
		values, err := url.ParseQuery(query)
		if err != nil || name == "" {
			return
		}
		if want := slices.ContainsFunc(values[name], func(v string) bool { return m.holds([]byte(v)) }); got != want {
			t.Errorf("%+v, %q: got %v, net/url reads %q", m, query, got, values)
		}
	})
}

func TestALongQueryIsReadWithoutAllocating(t *testing.T) {
	for _, query := range []string{
		strings.Repeat("a=1&", 2000), strings.Repeat("%61=%31&", 1000), "a=" + strings.Repeat("%31", 2700), "a=" + strings.Repeat("+", 8190),
	} {
		m := &Match{Query: []ValueMatch{{Name: "a", Value: []byte("1"), AnyBefore: true, AnyBehind: true}, {Name: "a", Value: []byte("2"), AnyBefore: true}}}
		raw, room := []byte(query), make([]byte, 0, len(query))
		if n := testing.AllocsPerRun(10, func() { m.TakesQuery(raw, &room) }); n != 0 {
			t.Errorf("%.20s…: got %v allocations, want none", query, n)
		}
	}
}
