package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The page of a visitor with a cookie that nobody had listed was not stored, and nothing said for which cookie.
func TestNobodySaidForWhichCookieNothingWasStored(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello\n")) }))
	defer origin.Close()
	file := func(more string) string {
		return writeFile(t, "edge.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: [%q]}}
admission: {policy: always}
cache: {default_ttl: 1m%s}
`, origin.URL, more))
	}
	s := serveBinary(t, "-c", file(""))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", "_ga=GA1.secret; _fbp=2")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := resp.Header.Get("Cache-Status"); got != `edgeproxy; fwd=uri-miss; detail="request-cookie: _ga, _fbp"` {
		t.Errorf("got Cache-Status %s", got)
	}
	s.metricsAtRest()
	screen := runBinary(t, "status", "--admin", s.admin).stdout
	if !strings.Contains(screen, "not stored: request-cookie 1\nrequest-cookie: _fbp 1, _ga 1; cache.keep_cookies or strip_cookies removes") {
		t.Errorf("status: got %s", screen)
	}
	document := runBinary(t, "status", "--json", "--admin", s.admin).stdout
	if !strings.Contains(document, `"_ga": 1`) || strings.Contains(document, "secret") {
		t.Errorf("status --json: got %s, want the name and no value", document)
	}
	if got := runBinary(t, "check", "-c", file("")); got.code != exitDone || !strings.Contains(got.stderr, "cache.default_ttl: 1m: does not apply to a request with a cookie") {
		t.Errorf("check: got %d %q", got.code, got.stderr)
	}
	if got := runBinary(t, "check", "-c", file(", keep_cookies: [PHPSESSID]")); got.code != exitDone || got.stderr != "" {
		t.Errorf("check with keep_cookies: got %d %q", got.code, got.stderr)
	}
}
