package cachekey_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/route/cachekey"
)

func rules(tb testing.TB, o cachekey.Options) *cachekey.Rules {
	tb.Helper()
	r, err := cachekey.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestAppendTarget(t *testing.T) {
	f := func(o cachekey.Options, raw, want string) {
		t.Helper()
		r := rules(t, o)
		got := string(r.AppendTarget([]byte("dst"), []byte(raw)))
		if got != "dst"+want {
			t.Errorf("%+v %s: got %s, want %s behind what was there", o, raw, got, want)
		}
		if again := string(r.AppendTarget(nil, []byte(want))); again != want {
			t.Errorf("%+v %s: its own result becomes %s, want no change", o, want, again)
		}
	}
	none := cachekey.Options{}
	f(none, "/a?", "/a?")
	f(none, "/a?b=2&&a=1&", "/a?b=2&&a=1&")
	f(none, "*", "*")

	ignore := cachekey.Options{IgnoreQuery: []string{"utm_*", "fbclid", "a b", "ä"}}
	f(ignore, "/a", "/a")
	f(ignore, "/a?", "/a")
	f(ignore, "/a?&&", "/a")
	f(ignore, "/a?utm_source=x", "/a")
	f(ignore, "/a?utm_", "/a")
	f(ignore, "/a?utm=1&fbclid", "/a?utm=1")
	f(ignore, "/a?b=2&utm_source=x&a=1&fbclid=z&b=1", "/a?b=2&a=1&b=1")
	f(ignore, "/a?fbclid2=1&FBCLID=2&xfbclid=3", "/a?fbclid2=1&FBCLID=2&xfbclid=3")
	f(ignore, "/a?utm%5Fsource=x&%66bclid&a+b=1&a%20b=2&%c3%a4=3&\xc3\xa4", "/a")
	f(ignore, "/a?utm%255Fsource=x", "/a?utm%255Fsource=x") // decoded once, as at the origin
	f(ignore, "/a?%zz=1&%6&%=2&fbclid%=3", "/a?%zz=1&%6&%=2&fbclid%=3")
	f(ignore, "/a?=fbclid&x=fbclid&x=?fbclid=1", "/a?=fbclid&x=fbclid&x=?fbclid=1")
	f(ignore, "/fbclid&utm_x=1", "/fbclid&utm_x=1") // no query
	f(ignore, "/%61?x=%61", "/%61?x=%61")
	f(cachekey.Options{IgnoreQuery: []string{"\x10", "\x06", "`"}}, "/a?%zz&%6z&%z0&%6&%60&%10", "/a?%zz&%6z&%z0&%6")
	f(cachekey.Options{IgnoreQuery: []string{"*"}}, "/a?x&=&y=1", "/a")

	only := cachekey.Options{OnlyQuery: []string{"id", "p_*"}}
	f(only, "/a?id=2&x=1&id=1&p_q&=5&p_", "/a?id=2&id=1&p_q&p_")
	f(only, "/a?i%64=2&ID=3&id%00=4", "/a?i%64=2")
	f(only, "/a?x;id=3", "/a")
	f(only, "/a?id=1;x=3", "/a?id=1;x=3")

	sorted := cachekey.Options{SortQuery: true}
	f(sorted, "/a?b=1&a=2&c", "/a?a=2&b=1&c")
	f(sorted, "/a?b=2&a&b=1&&b=3", "/a?a&b=2&b=1&b=3")
	f(sorted, "/a?ab&a=1&a", "/a?a=1&a&ab")
	f(sorted, "/a?b&=x", "/a?=x&b")
	// One name in two spellings: the origin may answer by the order.
	f(sorted, "/a?id=1&%69d=2", "/a?id=1&%69d=2")
	f(sorted, "/a?%69d=2&id=1", "/a?%69d=2&id=1")
	f(sorted, "/a?z+=1&z%20=0&z=2", "/a?z=2&z+=1&z%20=0")
	f(cachekey.Options{SortQuery: true, IgnoreQuery: []string{"x"}}, "/?x=1&b&a&x", "/?a&b")
	f(cachekey.Options{SortQuery: true, OnlyQuery: []string{"b", "a"}}, "/?x=1&b&a&x", "/?a&b")
}

// A name longer than every rule is not cut to one that fits.
func TestLongNamesAreNotCutToFitARule(t *testing.T) {
	long := strings.Repeat("n", 128)
	r := rules(t, cachekey.Options{IgnoreQuery: []string{long}})
	for _, raw := range []string{"/?" + long + "n", "/?" + long + "%6e", "/?" + long[1:]} {
		if got := string(r.AppendTarget(nil, []byte(raw))); got != raw {
			t.Errorf("%s: got %s, want no change", raw, got)
		}
	}
	if got := string(r.AppendTarget(nil, []byte("/?"+long))); got != "/" {
		t.Errorf("the name itself: got %s, want it dropped", got)
	}
}

func TestARuleKeepsAParameterOrDropsIt(t *testing.T) {
	long := strings.Repeat("n", 200)
	names := []string{"a", "ab", "b", "a b", "é", "A", "a%62", "a+b", long}
	for _, o := range []cachekey.Options{
		{},
		{SortQuery: true},
		{IgnoreQuery: []string{"*"}},
		{IgnoreQuery: []string{"a"}},
		{IgnoreQuery: []string{"a*", "é"}},
		{OnlyQuery: []string{"a b", "b"}, SortQuery: true},
		{OnlyQuery: []string{"a+*"}},
		{IgnoreQuery: []string{long[:128]}},
		{IgnoreQuery: []string{long[:127] + "*"}},
	} {
		r := rules(t, o)
		for _, name := range names {
			raw := "/?" + url.QueryEscape(name) + "=1"
			if kept := string(r.AppendTarget(nil, []byte(raw))); r.KeepsParameter(name) != (kept == raw) {
				t.Errorf("%+v: %q: got %v, and %s is keyed as %s", o, name, r.KeepsParameter(name), raw, kept)
			}
		}
	}
}

// A purge by prefix must reach all that it would have reached without rules.
func TestPrefixReachesWhatTheRulesMadeOfItsTargets(t *testing.T) {
	for _, o := range []cachekey.Options{
		{},
		{IgnoreQuery: []string{"b*"}},
		{OnlyQuery: []string{"b"}},
		{SortQuery: true},
	} {
		r := rules(t, o)
		for _, target := range []string{"/a", "/a?", "/a?b=1", "/a?b=1&a=2", "/a?c&b=1&bc"} {
			for n := range len(target) + 1 {
				prefix := r.Prefix([]byte(target[:n]))
				if got := r.AppendTarget(nil, []byte(target)); !bytes.HasPrefix(got, prefix) {
					t.Errorf("%+v: %s is keyed as %s: got prefix %s for %s, want one of the former", o, target, got, prefix, target[:n])
				}
			}
		}
	}
	if got := string((&cachekey.Rules{}).Prefix([]byte("/a?b"))); got != "/a?b" {
		t.Errorf("without rules: got %s, want /a?b", got)
	}
}

// naiveTarget is AppendTarget with the tools of the standard library. ok is false
// where those refuse an escape that AppendTarget takes as it is.
func naiveTarget(o cachekey.Options, raw string) (target string, ok bool) {
	path, query, found := strings.Cut(raw, "?")
	if !found || len(o.IgnoreQuery)+len(o.OnlyQuery) == 0 && !o.SortQuery {
		return raw, true
	}
	type parameter struct{ name, text string }
	var kept []parameter
	for text := range strings.SplitSeq(query, "&") {
		raw, _, _ := strings.Cut(text, "=")
		name, err := url.QueryUnescape(raw)
		if err != nil {
			return "", false
		}
		matches := func(rule string) bool {
			prefix, star := strings.CutSuffix(rule, "*")
			return name == rule || star && strings.HasPrefix(name, prefix)
		}
		if text == "" || slices.ContainsFunc(o.IgnoreQuery, matches) || len(o.OnlyQuery) > 0 && !slices.ContainsFunc(o.OnlyQuery, matches) {
			continue
		}
		kept = append(kept, parameter{name, text})
	}
	if o.SortQuery {
		slices.SortStableFunc(kept, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	}
	target = path
	for i, p := range kept {
		target += map[bool]string{true: "?", false: "&"}[i == 0] + p.text
	}
	return target, true
}

func FuzzAppendTarget(f *testing.F) {
	for _, seed := range []string{
		"/", "/a?b=1&a=2", "/?utm_source=x&id=1&&=&", "/?%75tm_x&a+b&%zz&%", "/?id=1&%69d=2&i%64", "/?a?b=c?id&utm_x", strings.Repeat("/?b&a", 50), "?", "&=+%",
	} {
		f.Add(seed)
	}
	options := []cachekey.Options{
		{},
		{SortQuery: true},
		{IgnoreQuery: []string{"utm_*", "a b", "id"}},
		{OnlyQuery: []string{"id", "a*"}, SortQuery: true},
	}
	var all []*cachekey.Rules
	for _, o := range options {
		all = append(all, rules(f, o))
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for i, r := range all {
			got := r.AppendTarget(nil, []byte(raw))
			if len(got) > len(raw) {
				t.Errorf("%+v %q: got %q, want nothing longer", options[i], raw, got)
			}
			if again := r.AppendTarget(nil, got); !bytes.Equal(again, got) {
				t.Errorf("%+v %q: got %q, which becomes %q, want no change", options[i], raw, got, again)
			}
			if want, ok := naiveTarget(options[i], raw); ok && string(got) != want {
				t.Errorf("%+v %q: got %q, want %q", options[i], raw, got, want)
			}
		}
	})
}

// hostileTarget has as many parameters as fit into size bytes.
func hostileTarget(size int) []byte {
	raw := []byte("/?")
	for i := 0; len(raw) < size; i++ {
		raw = fmt.Appendf(raw, "%%6%x&", 15-i%16)
	}
	return raw[:size]
}

func BenchmarkAppendTarget(b *testing.B) {
	usual := []byte("/products/list?page=2&utm_source=newsletter&utm_medium=mail&sort=price&category=shoes&fbclid=abcdef")
	f := func(name string, o cachekey.Options, raw []byte) {
		b.Run(name, func(b *testing.B) {
			r := rules(b, o)
			dst := make([]byte, 0, len(raw))
			b.ReportAllocs()
			for b.Loop() {
				dst = r.AppendTarget(dst[:0], raw)
			}
		})
	}

	f("none", cachekey.Options{}, usual)
	f("ignore", cachekey.Options{IgnoreQuery: []string{"utm_*", "fbclid"}}, usual)
	f("sort", cachekey.Options{SortQuery: true, IgnoreQuery: []string{"utm_*", "fbclid"}}, usual)
	f("sort 8 KiB of parameters", cachekey.Options{SortQuery: true}, hostileTarget(8<<10))
}
