package proxy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/setting"
	"edgeproxy/internal/test/testkit"
)

// This file holds the law of keys: two requests that may share a stored response have
// sent the origin equal lines for every field that selects it.

// parityCase is a route, what its responses vary by, and two requests.
type parityCase struct {
	route   Route
	key     *cachekey.Rules
	vary    []string
	trusted [2]bool
	targets [2]string
	heads   [2]string // field lines, each with its CRLF
}

// exchangeFor returns the exchange of one request as it is when the cache is asked, with
// its key; nil if the request is refused or passes the cache by.
func (c *parityCase) exchangeFor(i int, hasher cache.Hasher) (x *exchange, key string) {
	head := "GET " + c.targets[i] + " HTTP/1.1\r\nHost: h\r\n" + c.heads[i] + "\r\n"
	r, ok := readRequest(head)
	if !ok || len(bytes.Split([]byte(head[:strings.Index(head, "\r\n")]), []byte(" "))) != 3 {
		return nil, ""
	}
	x = newExchange()
	c.route.Enabled, c.route.HonorNoStore, c.route.Upgrades = true, true, true
	x.uses = c.route.usesAlone()
	x.req, x.route, x.scheme = r, &route{Route: &c.route, Key: c.key, cookies: cachekey.NewCookieFilter(c.route.StripCookies, c.route.KeepCookies, c.route.Bypass.Cookies, c.key)}, schemePlain
	if x.readFields(); x.asks.authorization || x.asks.body {
		return nil, ""
	}
	target, err := wire.ParseTarget(r.Target, schemePlain, false, new([]byte))
	if err != nil {
		return nil, ""
	}
	x.target = target
	x.host, _ = wire.AppendHost(nil, []byte("h"), schemePlain)
	if c.trusted[i] {
		x.trusted = forwarded.New([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")})
	}
	x.applyRules()
	why, _ := x.bypass()
	if why != reason.None {
		return nil, ""
	}
	x.answerable = true
	x.keyURL(hasher)
	return x, string(x.appendVariant(slices.Clone(x.name), c.vary))
}

// check plays both requests and holds what they send to the law.
func (c *parityCase) check(t *testing.T) (shared bool) {
	t.Helper()
	hasher, err := cache.NewHasher(1)
	if err != nil {
		t.Fatal(err)
	}
	a, keyA := c.exchangeFor(0, hasher)
	b, keyB := c.exchangeFor(1, hasher)
	for i, x := range []*exchange{a, b} {
		if x != nil {
			c.checkLines(t, i, x)
		}
	}
	if a == nil || b == nil || keyA != keyB {
		return false
	}
	if string(a.forwarded()) != string(b.forwarded()) {
		t.Errorf("%s\none key, and the targets %q and %q", c, a.forwarded(), b.forwarded())
	}
	sentA, sentB := a.endToEndFields(fieldrules.RangeOrCondition), b.endToEndFields(fieldrules.RangeOrCondition)
	names := slices.Clone(c.vary)
	for _, name := range parityNames {
		if canonical := field.Canonical(name); canonical != "Cookie" && c.key.Reads(canonical) {
			names = append(names, canonical)
		}
	}
	for _, name := range names {
		if x, y := sentA.Values(name), sentB.Values(name); !slices.Equal(x, y) {
			t.Errorf("%s\none key, and the origin got %s: %q and %q", c, name, x, y)
		}
		if x, y := asCGI(sentA, name), asCGI(sentB, name); field.Usual(name) && !c.route.UnusualNames && x != y {
			t.Errorf("%s\none key, and a CGI program got %s: %q and %q", c, name, x, y)
		}
	}
	c.checkCookies(t, sentA.Values("Cookie"), sentB.Values("Cookie"))
	return true
}

// checkLines compares what is keyed with what is forwarded, field by field.
func (c *parityCase) checkLines(t *testing.T, i int, x *exchange) {
	t.Helper()
	sent := x.endToEndFields(dropNone)
	for _, name := range parityNames {
		name = field.Canonical(name)
		var keyed []string
		for _, line := range x.forwardedLines(name) {
			keyed = append(keyed, string(line))
		}
		if got := sent.Values(name); !slices.Equal(got, keyed) {
			t.Errorf("%s\nrequest %d: %s is keyed as %q and forwarded as %q", c, i, name, keyed, got)
		}
	}
	j := &job{route: x.route}
	j.outlive(x, dropNone)
	if own, late := x.appendVariant(nil, c.vary), j.variant(nil, c.vary); string(own) != string(late) {
		t.Errorf("%s\nrequest %d: the key is %q, and once the request is gone %q", c, i, own, late)
	}
}

// asCGI is a field as a program gets it that knows no signs but the underscore.
func asCGI(l field.List, name string) string {
	var values []string
	for _, f := range l {
		if field.Hyphenated(f.Name) == field.Hyphenated(name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, ", ")
}

func (c *parityCase) String() string {
	return fmt.Sprintf("Vary %q, rules %+v, bypass %q, strip %q, unusual %v, any order %v, trusted %v\n%s\n%q\n%s\n%q",
		c.vary, *c.key, c.route.Bypass, c.route.StripCookies, c.route.UnusualNames, c.route.AnyLanguageOrder, c.trusted,
		c.targets[0], c.heads[0], c.targets[1], c.heads[1])
}

// recipe makes a case of bytes.
type recipe struct{ rest []byte }

// below takes a number from 0 to n-1.
func (r *recipe) below(n int) int {
	if len(r.rest) == 0 {
		return 0
	}
	b := int(r.rest[0])
	r.rest = r.rest[1:]
	return b % n
}

func (r *recipe) one(of []string) string { return of[r.below(len(of))] }

// some takes up to n of them.
func (r *recipe) some(of []string, n int) (out []string) {
	for range r.below(n + 1) {
		if s := r.one(of); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var (
	parityNames = []string{
		"Accept-Encoding", "Accept-Language", "Cookie", "User-Agent", "Content-Type", "X-Kind", "Accept", "Origin", "X-Scheme", "X-Forwarded-Prefix",
		"X-Debug", "X-Edge", "X_Kind", "X.Kind", "Accept_Language", "Range", "If-None-Match", "Via", "Keep-Alive", "X-Real-Ip", "Te",
	}
	parityValues = map[string][]string{
		"Accept-Encoding": {
			"gzip, deflate, br, zstd", "gzip,br", "br, gzip", "GZIP", "gzip;q=0", "identity;q=0", "*;q=0", "*", "identity", "", "x-gzip;q=0.5", "br ; q=1.0", "gzip;q=x",
			"deflate", ",,gzip", "gzip;q=0.0,*",
		},
		"Accept-Language": {"en-US,en;q=0.5", "EN-us, en;Q=0.5", "en", "de,en", "en,de", "", ",", "zh-hant-TW", `en;x="A"`, "e\u00e9", "en;q=0.5,en-us"},
		"Cookie": {
			"lang=de", "lang=de; s=1", "s=1; lang=de", "s=1;lang=de", "lang=de; lang=en", `x="a; lang=en"; lang=de`, "Lang=en; lang=de", "%6cang=en", "lang[a]=en; lang=de",
			"$Version=1; lang=de", "path=/; lang=de", "lang=de; _ga=1", "_ga=1", "_ga=2; lang=de;", "a=1,lang=en; lang=de", " lang=de", "lang=de ; s=1", "lang =de",
			"lang", "=lang; lang=de", `lang="de"`, "lang=de;; s=1", "session=1", "SESSION=1; lang=de", "the.lang=en", "the_lang=en; lang=de", "", "lang=d\\e; s=\"1",
		},
		"Connection": {"X-Kind", "close", "keep-alive, User-Agent", "Cookie", "x-scheme,X-Edge", ""},
	}
	parityOthers  = []string{"", "1", "2", "1, 2", "1,2", " 1", "1\t", "mozilla", "evil", "\u00e9", "X-Kind: 1"}
	parityTargets = []string{"/a", "/a?b=1", "/a?utm_x=1&b=1", "/a?b=1&utm_x=2", "/a?b=1&a=2", "/a?a=2&b=1", "/a?%75tm_x=1", "/a?", "/%61?b=%31", "/a?%62=1&utm%5fx=%7e"}
)

// line makes a field line. The case of a name, and white space, are drawn too.
func (r *recipe) line() string {
	name := r.one(append(slices.Clone(parityNames), "Connection", "Cookie", "Cookie", "Cookie", "Accept-Encoding"))
	values := parityValues[name]
	if values == nil {
		values = parityOthers
	}
	value := r.one(values)
	switch r.below(6) {
	case 1:
		name = strings.ToLower(name)
	case 2:
		name = strings.ToUpper(name)
	}
	return name + ":" + r.one([]string{" ", "", "\t ", " "}) + value + r.one([]string{"", "", " ", "\t"}) + "\r\n"
}

// edit makes a request out of another, which it resembles.
func (r *recipe) edit(lines []string) []string {
	out := slices.Clone(lines)
	for range r.below(4) {
		at := r.below(len(out) + 1)
		switch r.below(4) {
		case 0:
			out = slices.Insert(out, at, r.line())
		case 1:
			if at < len(out) {
				out = slices.Delete(out, at, at+1)
			}
		case 2:
			if at < len(out) {
				out[at] = r.line()
			}
		case 3:
			if at+1 < len(out) {
				out[at], out[at+1] = out[at+1], out[at]
			}
		}
	}
	return out
}

func (r *recipe) parityCase() *parityCase {
	c := &parityCase{}
	o := cachekey.Options{Headers: r.some([]string{"X-Kind", "Accept-Language", "X-Scheme", "X_Kind", "Accept-Encoding", "X-Forwarded-Prefix"}, 2), Cookies: r.some([]string{"lang", "s", "the_lang"}, 2)}
	if r.below(2) == 1 {
		o.IgnoreQuery = []string{"utm_*"}
	}
	o.SortQuery = r.below(2) == 1
	key, err := cachekey.New(o)
	if err != nil {
		panic(err)
	}
	c.key = key
	c.route.Bypass.Cookies = r.some([]string{"session", "wp_*"}, 1)
	c.route.StripCookies = r.some([]string{"_ga*", "s"}, 2)
	c.route.UnusualNames = r.below(4) == 1
	c.route.AnyLanguageOrder = r.below(2) == 1
	if r.below(3) == 1 {
		if c.route.Request, err = fieldrules.ForRequests([]string{"X-Debug", "X-D*"}, nil, map[string]string{"X-Edge": "1"}); err != nil {
			panic(err)
		}
	}
	var vary field.List
	for _, name := range r.some(parityNames, 4) {
		if !fieldrules.WrittenByProxy(field.Canonical(name)) {
			vary.Add("Vary", name)
		}
	}
	c.vary, _ = rfc9111.VaryNames(vary)
	trusted := r.below(8)
	c.trusted = [2]bool{trusted&3 == 3, trusted&5 == 5}
	c.targets[0] = r.one(parityTargets)
	c.targets[1] = c.targets[0]
	if r.below(3) == 1 {
		c.targets[1] = r.one(parityTargets)
	}
	var lines []string
	for range r.below(7) {
		lines = append(lines, r.line())
	}
	c.heads = [2]string{strings.Join(lines, ""), strings.Join(r.edit(lines), "")}
	return c
}

func TestRequestsThatShareHaveSentEqualLines(t *testing.T) {
	testkit.Plain(t, "one goroutine compares 30,000 pairs")
	rnd := rand.New(rand.NewPCG(1, 2))
	shared, pairs := 0, testkit.Times(30_000, 5000)
	for range pairs {
		b := make([]byte, 120)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		if (&recipe{b}).parityCase().check(t) {
			shared++
		}
		if t.Failed() {
			return
		}
	}
	if shared < pairs/10 {
		t.Errorf("%d of %d pairs share a key, want enough of them to say something", shared, pairs)
	}
}

// FuzzParity: whatever two clients send, if they may share a stored response, the origin
// got equal lines from both for every field that selects it. A recipe makes the route and
// the requests; the heads come on top of what it makes.
func FuzzParity(f *testing.F) {
	f.Add([]byte{}, "User-Agent: evil\r\nUser-Agent: a\r\n", "User-Agent: a\r\n")
	f.Add([]byte{0, 1, 0}, "Cookie: x=\"a; lang=de\"\r\n", "Cookie: lang=de\r\n")
	f.Add([]byte{0, 1, 0, 0, 0, 1, 0, 1, 0}, "Cookie: lang=de ; b=1\r\n", "Cookie: lang=de; b=1\r\n")
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 2, 3}, "Accept_Language: de\r\nAccept-Encoding: GZIP\r\n", "Accept-Encoding: gzip;q=1\r\n")
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 4}, "User-Agent:\r\nContent-Type: a\r\nContent-Type: b\r\n", "Content-Type: b\r\n")
	f.Fuzz(func(t *testing.T, b []byte, headA, headB string) {
		c := (&recipe{b}).parityCase()
		c.heads[0] += headA
		c.heads[1] += headB
		c.check(t)
	})
}

// Browsers and tools that ask for the same share it.
func TestUsualClientsShareVariants(t *testing.T) {
	hasher, err := cache.NewHasher(1)
	if err != nil {
		t.Fatal(err)
	}
	f := func(same bool, a, b string) {
		t.Helper()
		c := &parityCase{key: &cachekey.Rules{}, vary: []string{"Accept-Encoding", "Accept-Language", "Cookie", "User-Agent"}, targets: [2]string{"/", "/"}, heads: [2]string{a, b}}
		_, keyA := c.exchangeFor(0, hasher)
		_, keyB := c.exchangeFor(1, hasher)
		if (keyA == keyB) != same {
			t.Errorf("%q and %q: got one key %v, want %v", a, b, keyA == keyB, same)
		}
	}
	f(true, "Accept-Encoding: gzip, deflate, br, zstd\r\n", "accept-encoding: zstd,br,gzip\r\n")
	f(true, "Accept-Encoding: gzip, deflate\r\n", "Accept-Encoding: gzip\r\n")
	f(true, "Accept-Language: en-US,en;q=0.5\r\n", "Accept-Language: en-us, en; q=0.5\r\n")
	f(true, "User-Agent: a\r\nX: 1\r\nCookie: a=b\r\n", "Cookie:  a=b \r\nUser-Agent:a\r\n")
	f(false, "Accept-Encoding: gzip, br\r\n", "Accept-Encoding: gzip\r\n")
	f(false, "Cookie: a=b\r\n", "Cookie: a=b;\r\n")
	f(false, "", "Accept-Encoding:\r\n")
	f(false, "", "User-Agent:\r\n")
}

// All pairs of odd lines, on routes that go by cookies in each way.
func TestCookiesThatShareAreReadAlike(t *testing.T) {
	keyed, err := cachekey.New(cachekey.Options{Cookies: []string{"lang", "the_lang"}})
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, by := range []struct {
		key     *cachekey.Rules
		caching setting.Caching
	}{
		{keyed, setting.Caching{}},
		{keyed, setting.Caching{StripCookies: cachekey.CookieNames{"s", "_ga*"}}},
		{keyed, setting.Caching{StripCookies: cachekey.CookieNames{"*"}}},
		{keyed, setting.Caching{KeepCookies: cachekey.CookieNames{"s"}}},
		{&cachekey.Rules{}, setting.Caching{KeepCookies: cachekey.CookieNames{"lang"}, Bypass: setting.Bypass{Cookies: cachekey.CookieNames{"s"}}}},
		{&cachekey.Rules{}, setting.Caching{Bypass: setting.Bypass{Cookies: cachekey.CookieNames{"lang"}}}},
	} {
		for _, a := range parityValues["Cookie"] {
			for _, b := range parityValues["Cookie"] {
				c := &parityCase{key: by.key, route: Route{Caching: by.caching}, targets: [2]string{"/", "/"}, heads: [2]string{"Cookie: " + a + "\r\n", "Cookie: " + b + "\r\n"}}
				if c.check(t) && a != b {
					shared++
				}
			}
		}
	}
	if shared < 20 {
		t.Errorf("%d pairs share a key, want enough of them to say something", shared)
	}
}
