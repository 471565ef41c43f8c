package main

import (
	"fmt"
	"io"
	"testing"
)

// TestOneRouteForSeveralSuffixes is what location ~ \.(css|js|woff2)$ is in nginx.
func TestOneRouteForSeveralSuffixes(t *testing.T) {
	t.Parallel()
	c := serveFile(t, fmt.Sprintf(`origins: {app: {servers: [%q]}}
routes:
  - {name: static, match: {path_suffix: [.css, .js, .woff2]}, respond: {status: 200, body: static}}
  - {name: site, origin: app}
`, cachedOrigin(t)))
	for path, want := range map[string]string{
		"/a.css": "static", "/b/a.min.js?v=2": "static", "/a%2Ewoff2": "static",
		"/a.woff": "hello\n", "/a.js/b": "hello\n", "/css": "hello\n", "/a?x=.css": "hello\n",
	} {
		if _, body := get(t, "http://"+c.address+path); body != want {
			t.Errorf("%s: got %q, want %q", path, body, want)
		}
	}
}

// TestARouteByQuery: the file's names and values are decoded, and case counts.
func TestARouteByQuery(t *testing.T) {
	t.Parallel()
	c := serveFile(t, fmt.Sprintf(`origins: {app: {servers: [%q]}}
routes:
  - {name: both, match: {query: {q: "*", "in a": de*}}, respond: {status: 200, body: both}}
  - {name: search, match: {query: {q: "*"}}, respond: {status: 200, body: search}}
  - {name: site, origin: app}
`, cachedOrigin(t)))
	for path, want := range map[string]string{
		"/?q": "search", "/x?a=1&q=2": "search", "/?%71=": "search", "/?in+a=de-at&q=": "both", "/?q=1&in%20a=en&in%20a=%64e": "both", "/?q=1&in%2Ba=de": "search",
		"/": "hello\n", "/q": "hello\n", "/?Q=1": "hello\n", "/?in+a=de": "hello\n",
	} {
		if _, body := get(t, "http://"+c.address+path); body != want {
			t.Errorf("%s: got %q, want %q", path, body, want)
		}
	}
}

// TestARouteForOneScheme: the scheme is that of the listener, by both versions of HTTP.
func TestARouteForOneScheme(t *testing.T) {
	t.Parallel()
	const routes = "routes:\n  - {name: plain, match: {scheme: http}, respond: {status: 200, body: plain}}\n" +
		"  - {name: secure, match: {scheme: https}, respond: {status: 200, body: secure}}\n"
	const origins = "origins: {app: {servers: [\"http://127.0.0.1:1\"]}}\n"
	if _, body := get(t, "http://"+serveFile(t, origins+routes).address+"/"); body != "plain" {
		t.Errorf("without TLS: got %q", body)
	}
	s := serveTLS(t, "http://127.0.0.1:1", routes)
	for _, two := range []bool{false, true} {
		res, err := s.speaks(t, two).Get("https://www.example.com/")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if string(body) != "secure" {
			t.Errorf("two %v: got %q", two, body)
		}
	}
}
