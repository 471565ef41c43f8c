package cachekey_test

import (
	"strings"
	"testing"

	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/test/testkit"
)

func TestKeysAllocateNothing(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	f := func(name string, want float64, step func()) {
		t.Helper()
		if got := testing.AllocsPerRun(100, step); got != want {
			t.Errorf("%s: got %v allocations, want %v", name, got, want)
		}
	}
	dst := make([]byte, 0, 16<<10)
	r := rules(t, cachekey.Options{
		IgnoreQuery: []string{"utm_*", "fbclid"}, SortQuery: true,
		Headers: []string{"X-A"}, Cookies: []string{"id"},
	})
	usual := []byte("/x?b=1&utm_source=y&a%20b=2&fbclid=3")
	many := []byte("/x?" + strings.Repeat("a&", 33))
	a, cookie := [][]byte{[]byte("1")}, [][]byte{[]byte("session=5; id=7")}
	lines := func(name string) [][]byte {
		if name == "Cookie" {
			return cookie
		}
		return a
	}

	f("a usual target", 0, func() { dst = r.AppendTarget(dst[:0], usual) })
	f("33 parameters to sort", 1, func() { dst = r.AppendTarget(dst[:0], many) })
	f("selectors", 0, func() { dst = r.AppendSelectors(dst[:0], lines) })
	names := cachekey.CookieNames{"wp_*", "session"}
	filter := cachekey.NewCookieFilter(names, nil, cachekey.CookieNames{"user"}, r)
	f("ambiguity", 0, func() { _ = r.Ambiguous(cookie) })
	f("all cookies", 0, func() { _ = r.HasAllCookies(cookie) })
	f("cookies found and left out", 0, func() {
		_ = names.Found(cookie[0])
		dst, _ = filter.AppendOthers(dst[:0], cookie[0])
	})
	f("a name without underscores", 0, func() { _ = r.Imitates("Accept-Encoding") })
}
