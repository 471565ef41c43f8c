package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestPlacesOfFieldsByBothVersions: an id is the same at the origin, in the access log and in the line of an error.
func TestPlacesOfFieldsByBothVersions(t *testing.T) {
	t.Parallel()
	told := make(chan [3]string, 8)
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		told <- [3]string{r.Header.Get("X-Real-IP"), r.Header.Get("X-Request-ID"), r.Header.Get("X-Url")}
		if r.URL.Path == "/fails" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer backend.Close()
	log := filepath.Join(t.TempDir(), "access.log")
	s := serveTLS(t, backend.URL, fmt.Sprintf(`
access_log: {path: %q, format: template, template: "{protocol} {target} {client} {request_id}"}
log: {level: debug}
routes:
  - {name: own, match: {path: /own}, respond: {status: 200, body: own, headers: {X-Id: "{request_id}", X-Who: "{client} {hostport}{uri}"}}}
  - {name: plain, match: {path_prefix: /plain}, origin: app}
  - name: site
    origin: app
    headers: {request: {set: {X-Real-IP: "{client}", X-Request-ID: "{request_id}", X-Url: "{scheme}://{host}:{port}{uri}"}}, response: {set: {X-Seen: "{host}{path}"}}}
`, log))
	var want []string
	for _, two := range []bool{false, true} {
		version := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[two]
		ask := func(path string) *http.Response {
			t.Helper()
			r, err := http.NewRequest(http.MethodGet, "https://www.example.com"+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Request-ID", "of-the-client")
			res, err := s.speaks(t, two).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			return res
		}
		res, got := ask("/a?b="+version[5:6]), <-told
		if got[0] != "127.0.0.1" || got[2] != "https://www.example.com:443/a?b="+version[5:6] || len(got[1]) != 32 || res.Header.Get("X-Seen") != "www.example.com/a" {
			t.Errorf("%s: got %q and %q", version, got, res.Header.Get("X-Seen"))
		}
		want = append(want, fmt.Sprintf("%s /a?b=%s 127.0.0.1 %s", version, version[5:6], got[1]))
		ask("/fails")
		got = <-told
		for len(told) > 0 { // it is asked again
			<-told
		}
		want = append(want, fmt.Sprintf("%s /fails 127.0.0.1 %s", version, got[1]))
		eventually(t, "a line of the log says that "+got[1]+" has failed", func() bool {
			return slices.ContainsFunc(s.lines(), func(l logLine) bool { return l.Message == "request failed" && l.RequestID == got[1] })
		})
		ask("/plain")
		if got = <-told; got[1] != "of-the-client" {
			t.Errorf("%s: without a rule the origin got the id %q", version, got[1])
		}
		want = append(want, version+" /plain 127.0.0.1 of-the-client")
		res = ask("/own?c")
		if id, who := res.Header.Get("X-Id"), res.Header.Get("X-Who"); len(id) != 32 || who != "127.0.0.1 www.example.com/own?c" {
			t.Errorf("%s: got %q and %q from the route itself", version, id, who)
		}
		want = append(want, version+" /own?c 127.0.0.1 "+res.Header.Get("X-Id"))
	}
	s.signal(syscall.SIGTERM)
	s.wantExit(exitDone)
	lines := logOf(t, log)
	for _, w := range want {
		if !strings.Contains("\n"+strings.Join(lines, "\n")+"\n", "\n"+w+"\n") {
			t.Errorf("the log lacks %q:\n%s", w, strings.Join(lines, "\n"))
		}
	}
}
