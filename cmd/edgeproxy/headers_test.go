package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRulesForFieldsOfAFileAreThoseOfTheRoute is a running program with two routes.
func TestRulesForFieldsOfAFileAreThoseOfTheRoute(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Inner", "1")
		_, _ = fmt.Fprintf(w, "%s|%s|%s|%s", r.Header.Get("X-Debug"), r.Header.Get("X-Edge"), r.Header.Get("X_Y"), r.Header.Get("Cookie"))
	}))
	t.Cleanup(origin.Close)
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
cache: {strip_cookies: [_ga*]}
routes:
  - name: ruled
    match: {path_prefix: /ruled}
    origin: app
    headers: {request: {remove: [X-Debug], set: {X-Edge: "1"}}, response: {remove: [X-Inner], set: {X-Outer: "2"}}}
  - {name: rest, origin: app, unusual_field_names: keep, cache: {strip_cookies: []}}
`, origin.URL)))
	f := func(path, body, inner, outer string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"X-Debug": {"d"}, "X-Edge": {"e"}, "X_Y": {"y"}, "Cookie": {"a=1; _ga=2"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if string(got) != body || res.Header.Get("X-Inner") != inner || res.Header.Get("X-Outer") != outer {
			t.Errorf("%s: got %q, X-Inner %q, X-Outer %q; want %q, %q, %q", path, got, res.Header.Get("X-Inner"), res.Header.Get("X-Outer"), body, inner, outer)
		}
	}
	f("/ruled", "|1||a=1", "", "2")
	f("/rest", "d|e|y|a=1; _ga=2", "1", "")
}
