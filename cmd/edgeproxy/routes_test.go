package main

import (
	"fmt"
	"testing"
)

// TestOneRouteForSeveralSuffixes is what location ~ \.(css|js|woff2)$ is in nginx.
func TestOneRouteForSeveralSuffixes(t *testing.T) {
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
