package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFieldsOfOurOwnAnswersOfAFile by the program: routes have those of the top, say otherwise name by name, and a reload changes them.
func TestFieldsOfOurOwnAnswersOfAFile(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	t.Cleanup(origin.Close)
	top := fmt.Sprintf("origins: {app: {servers: [%q]}}\naccess: {deny: [0.0.0.0/0]}\nheaders: {generated: {set: {Strict-Transport-Security: max-age=9, X-Own: top}}}\n", origin.URL)
	const rest = `
routes:
  - {name: moved, match: {path: /moved}, redirect: {to: /x}, access: {deny: none}, headers: {generated: {set: {x-own: moved, Cache-Control: max-age=1}}}}
  - {name: said, match: {path: /said}, respond: {status: 200, body: said, headers: {X-Own: said}}, access: {deny: none}}
  - {name: bare, match: {path: /bare}, origin: app, headers: {generated: {set: {X-Own: null, Strict-Transport-Security: null}}}}
  - {name: open, match: {path: /open}, origin: app, access: {deny: none}}
  - {name: rest, match: {hosts: ["127.0.0.1"]}, origin: app}
`
	c := serveFile(t, top+rest)
	f := func(path, host, want string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "http://"+c.address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := fmt.Sprint(res.StatusCode, res.Header["Strict-Transport-Security"], res.Header["X-Own"], res.Header["Cache-Control"]); got != want {
			t.Errorf("%s of %s: got %s, want %s", path, host, got, want)
		}
	}
	f("/a", "", "403 [max-age=9] [top] [no-store]")
	f("/a", "other.test", "404 [max-age=9] [top] [no-store]")
	f("/moved", "", "302 [max-age=9] [moved] [max-age=1]")
	f("/said", "", "200 [max-age=9] [said] []")
	f("/bare", "", "403 [] [] [no-store]")
	f("/open", "", "404 [] [] []")
	if got := c.change(withPorts(strings.ReplaceAll(top, "X-Own: top", "X-Own: new") + rest)); got.code != exitDone || !strings.Contains(got.stdout+got.stderr, "headers.generated.set") {
		t.Fatalf("reload: %+v", got)
	}
	f("/a", "", "403 [max-age=9] [new] [no-store]")
	f("/a", "other.test", "404 [max-age=9] [new] [no-store]")
	c.write(strings.ReplaceAll(top, "{generated: {set: {", "{generated: {set: {Date: today, ") + rest)
	if got := c.reload(); got.code != exitUsage || strings.Count(got.stderr, "headers.generated.set.Date: today: must be another field") != 1 {
		t.Errorf("reload: got %+v", got)
	}
	f("/a", "", "403 [max-age=9] [new] [no-store]")
}

// TestAnIDOfOurOwnAnswerIsThatOfTheLog, by HTTP/1.1 and HTTP/2, with a route and without.
func TestAnIDOfOurOwnAnswerIsThatOfTheLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	s := serveTLS(t, "http://127.0.0.1:9", fmt.Sprintf(`
access_log: {path: %q, format: template, template: "{protocol} {target} {status} {request_id}"}
headers: {generated: {set: {X-Id: "{request_id}", X-Who: "{client} {hostport}{uri}"}}}
routes: [{name: site, match: {path_prefix: /site}, origin: app}]
`, log))
	var want []string
	for version, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		for path, status := range map[string]int{"/none": 404, "/site": 502} {
			r, err := http.NewRequest(http.MethodGet, "https://www.example.com"+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Request-Id", "of-the-client")
			res, err := s.speaks(t, two).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			id := res.Header.Get("X-Id")
			if who := res.Header.Get("X-Who"); res.StatusCode != status || len(id) != 32 || who != "127.0.0.1 www.example.com"+path {
				t.Errorf("%s %s: got %d, %q and %q", version, path, res.StatusCode, id, who)
			}
			want = append(want, fmt.Sprintf("%s %s %d %s", version, path, status, id))
		}
	}
	if res, _ := get(t, "http://"+s.address+"/a"); res.StatusCode != 400 || len(res.Header.Get("X-Id")) != 32 {
		t.Errorf("plain HTTP at a port of TLS: got %d %v", res.StatusCode, res.Header)
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	lines := "\n" + strings.Join(logOf(t, log), "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(lines, "\n"+w+"\n") {
			t.Errorf("the log lacks %q:%s", w, lines)
		}
	}
}
