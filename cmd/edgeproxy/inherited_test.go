package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRoutesInheritFromTheTop by the program: fields both ways, users, pages and the time of an exchange. A route says otherwise
// name by name, and a reload changes it for all.
func TestRoutesInheritFromTheTop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	done := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/slow"):
			select {
			case <-r.Context().Done():
			case <-done:
			}
		case strings.HasSuffix(r.URL.Path, "/missing"):
			w.WriteHeader(http.StatusNotFound)
		}
		w.Header().Set("X-Powered-By", "origin")
		_, _ = fmt.Fprintf(w, "%s %s", r.Header.Get("X-Edge"), r.Header.Get("X-More"))
	}))
	t.Cleanup(origin.Close)
	t.Cleanup(func() { close(done) })
	top := fmt.Sprintf(`
origins: {app: {servers: [%q], first_byte_timeout: 1h}}
total_timeout: 1h
access: {basic_auth: {users_file: %q, realm: staff}}
error_pages: {404: %q, 5xx: %q}
intercept_errors: true
headers:
  request: {set: {X-Edge: all, X-More: more}}
  response: {remove: [X-Powered-By], set: {X-Frame-Options: DENY}}
`, origin.URL, write("users", "ann:"+hashOfX), write("missing.html", "<p>missing"), write("sorry.html", "<p>sorry"))
	const rest = "routes:\n" +
		"  - {name: open, match: {path_prefix: /open}, origin: app, access: {basic_auth: {enabled: false}}, error_pages: {404: null}, " +
		"headers: {request: {set: {x-edge: own}}, response: {remove: [X-Frame-Options], set: {X-Powered-By: null}}}}\n" +
		"  - {name: rest, origin: app}\n"
	c := serveFile(t, top+rest)
	// Each is a path, and what comes of it: status, body, X-Powered-By and X-Frame-Options.
	f := func(path, user, want string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "http://"+c.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			r.SetBasicAuth(user, "x")
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %q %s %s", res.StatusCode, body, res.Header.Get("X-Powered-By"), res.Header.Get("X-Frame-Options")); got != want {
			t.Errorf("%s by %q: got %s, want %s", path, user, got, want)
		}
	}
	for range 3 { // the last is a hit
		f("/a", "ann", `200 "all more"  DENY`)
		f("/open/a", "", `200 "own more" origin `)
	}
	f("/a", "", `401 "Unauthorized\n"  `)
	f("/missing", "ann", `404 "<p>missing"  DENY`)
	f("/open/missing", "", `404 "own more"  `)
	if got := runBinary(t, "check", "-c", c.path); got.code != exitDone || !strings.HasSuffix(got.stdout, c.path+": route open turns off access settings of the top or of the route around it: basic_auth\n"+c.path+": ok\n") {
		t.Errorf("check: got %+v", got)
	}

	if got := c.change(withPorts(strings.ReplaceAll(top, "X-More: more", "X-More: less") + rest)); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, "headers.request.set") {
		t.Fatalf("reload: %+v", got)
	}
	f("/b", "ann", `200 "all less"  DENY`)
	f("/open/b", "", `200 "own less" origin `)

	// So short a time is for the request that it is to end: a busy machine may take as long for others.
	if got := c.change(withPorts(strings.ReplaceAll(top, "total_timeout: 1h", "total_timeout: 100ms") + rest)); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, "total_timeout") {
		t.Fatalf("reload: %+v", got)
	}
	f("/slow", "ann", `504 "<p>sorry"  `)
}

// TestFaultsOfTheTopAreSaidOnce and where they stand, however many routes inherit them.
func TestFaultsOfTheTopAreSaidOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := writeFile(t, "edge.yaml", fmt.Sprintf(`
origins: {app: {servers: ["http://h"]}}
access: {basic_auth: {users_file: %q}}
error_pages: {404: page.php}
headers: {request: {remove: [X-A, Host], set: {Connection: a, X-Lang: en}}, generated: {set: {Location: /x}}}
routes:
  - {name: a, match: {path: /a}, origin: app, headers: {request: {remove: [Via], set: {Host: b}}}}
  - {name: b, match: {path: /b}, origin: app, cache: {key: {headers: [X-Lang]}}}
  - {name: rest, origin: app}
`, dir))
	got := runBinary(t, "check", "-c", path)
	for _, want := range []string{
		":3:35: access.basic_auth.users_file: ", ":4:20: error_pages.404: page.php: ", ":5:35: headers.request.remove[1]: Host: ", ":5:60: headers.request.set.Connection: a: ", ":5:105: headers.generated.set.Location: /x: ",
		":7:76: routes[0].headers.request.remove[0]: Via: ", ":7:94: routes[0].headers.request.set.Host: b: ",
	} {
		if n := strings.Count(got.stderr, path+want); n != 1 {
			t.Errorf("got %d of %s in\n%s", n, want, got.stderr)
		}
	}
	if n := strings.Count(got.stderr, "\n"); n != 7 {
		t.Errorf("got %d lines, want 7:\n%s", n, got.stderr)
	}
}
