package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// taggedOrigin answers everything with a tag of the target's last letter.
func taggedOrigin(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Surrogate-Key", "tag-"+r.URL.Path[len(r.URL.Path)-1:])
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "hello\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestPurgeCommandReachesWhatItSays is a running program and the command beside it.
func TestPurgeCommandReachesWhatItSays(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--policy", "always", "--origin", taggedOrigin(t)}, anyPorts...)...)
	const stored, hit, validated = "fwd=uri-miss; stored", `hit; ttl=\d+`, "fwd=stale; fwd-status=304"
	ask := func(path, want string) {
		t.Helper()
		res, _ := get(t, "http://"+s.address+path)
		if got := res.Header.Get("Cache-Status"); !regexp.MustCompile("^edgeproxy; " + want + "$").MatchString(got) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	f := func(wantA, wantB, says string, flags ...string) {
		t.Helper()
		got := runBinary(t, append([]string{"purge", "--admin", s.admin}, flags...)...)
		if got.code != exitDone || got.stdout != says+"\n" || got.stderr != "" {
			t.Errorf("%q: got %d %q %q, want %d and %q", flags, got.code, got.stdout, got.stderr, exitDone, says)
		}
		ask("/x/a", wantA)
		ask("/x/b", wantB)
	}
	ask("/x/a", stored)
	ask("/x/b", stored)

	site := "http://" + s.address
	f(stored, hit, fmt.Sprintf("purged: url [%q] (objects: 1)", site+"/x/a"), "--url", site+"/x/a")
	f(stored, stored, fmt.Sprintf("purged: url [%q %q] (objects: 2)", site+"/x/a", site+"/x/b"), "--url", site+"/x/a", "--url="+site+"/x/b")
	f(hit, stored, `purged: tag ["tag-b"]`, "--tag", "tag-b")
	f(hit, validated, `made stale: tag ["tag-b"]`, "--tag", "tag-b", "--soft")
	f(stored, stored, `purged: tag ["tag-a" "tag-b"]`, "--tag", "tag-a, tag-b")
	f(stored, stored, fmt.Sprintf("purged: prefix [%q]", site+"/x/"), "--prefix", site+"/x/")
	f(hit, hit, `purged: host ["other.test"]`, "--host", "other.test")
	f(stored, stored, fmt.Sprintf("purged: host [%q]", s.address), "--host", s.address)
	f(stored, stored, "purged: everything", "--all")
	f(validated, validated, "made stale: everything", "--soft", "--all")
}

func TestPurgeCommandRefuses(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--origin", taggedOrigin(t)}, anyPorts...)...)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }))
	t.Cleanup(web.Close)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(broken.Close)
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	f := func(want int, says string, flags ...string) {
		t.Helper()
		got := runBinary(t, append([]string{"purge"}, flags...)...)
		if got.code != want || !strings.Contains(got.stderr, says) || got.stdout != "" {
			t.Errorf("%q: got %d %q %q, want %d and %q", flags, got.code, got.stdout, got.stderr, want, says)
		}
	}

	f(exitUsage, "needs --url, --prefix, --host, --tag or --all")
	f(exitUsage, "needs --url, --prefix, --host, --tag or --all", "--soft")
	f(exitUsage, "--url and --tag: must be one of the two", "--url", "http://a/", "--tag", "x")
	f(exitUsage, "--all and --host: must be one of the two", "--all", "--host", "a")
	f(exitUsage, "unknown flag", "--path", "/")
	f(exitUsage, `unexpected argument "http://a/": needs --url, --prefix`, "--all", "http://a/")
	f(exitUsage, "--token-file x: must be a file with a token: no such file", "--all", "--token-file", "x")
	f(exitUsage, "must be a file with a token: one word", "--all", "--token-file", writeFile(t, "empty", " \n"))
	f(exitUsage, "must be a file with a token: one word", "--all", "--token-file", writeFile(t, "words", "one two\n"))
	for _, address := range []string{"localhost", "127.0.0.1:", "a b:1"} {
		f(exitUsage, "must be HOST:PORT", "--all", "--admin", address)
	}
	f(exitUsage, "must be the path of a socket behind unix:", "--all", "--admin", "unix:")
	f(exitUsage, `url "/a": must be an absolute URL`, "--url", "/a", "--admin", s.admin)
	f(exitUsage, `host "http://a": malformed Host`, "--host", "http://a", "--admin", s.admin)
	f(exitUsage, `--tag "": must be a tag`, "--tag", "", "--admin", s.admin)
	f(exitUsage, `--tag "a,,b": must be a tag`, "--tag", "a,,b", "--admin", s.admin)
	f(exitFailed, "connection refused", "--all", "--admin", nobody.Listener.Addr().String())
	f(exitFailed, "not the answer of an admin listener", "--all", "--admin", web.Listener.Addr().String())
	f(exitFailed, "418 I'm a teapot: not the answer of an admin listener", "--all", "--admin", broken.Listener.Addr().String())
}
