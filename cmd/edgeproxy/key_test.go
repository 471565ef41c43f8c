package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestKeyRulesOfAFileAreThoseOfTheRoute is a running program with two routes.
func TestKeyRulesOfAFileAreThoseOfTheRoute(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
admission: {policy: always}
cache: {key: {ignore_query: [utm_*]}}
routes:
  - {name: shop, match: {path_prefix: /shop}, origin: app, cache: {key: {cookies: [currency]}}}
  - {name: raw, match: {path_prefix: /raw}, origin: app, cache: {key: {ignore_query: []}}}
  - {name: rest, origin: app}
`, cachedOrigin(t))))
	f := func(path, cookie string, wantHit bool) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if cookie != "" {
			req.Header.Set("Cookie", cookie)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // a client that leaves early ends nothing for others
		_ = res.Body.Close()
		if got := res.Header.Get("Cache-Status"); strings.Contains(got, "; hit;") != wantHit {
			t.Errorf("%s, cookie %q: got %q, want a hit: %v", path, cookie, got, wantHit)
		}
	}

	f("/a?utm_id=1", "", false)
	f("/a?utm_id=2", "currency=eur", true)
	f("/raw?utm_id=1", "", false)
	f("/raw?utm_id=2", "", false)
	f("/shop?utm_id=1", "currency=eur", false)
	f("/shop?utm_id=2", "id=1; currency=eur", true)
	f("/shop", "currency=usd", false)
}
