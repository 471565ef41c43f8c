package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	edgetest "edgeproxy/internal/test/oldrig"
)

// TestChallengesAreAnsweredHere: those that are known, and nothing else below the path.
func TestChallengesAreAnsweredHere(t *testing.T) {
	e := start(t, edgetest.Options{Origin: hitOrigin(t), Challenge: func(token []byte) string {
		if string(token) == "known" {
			return "known.thumbprint"
		}
		return ""
	}})
	f := func(method, path, host string, ours bool) {
		t.Helper()
		r, err := http.NewRequest(method, "http://"+e.Address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		want := ""
		if ours && method == http.MethodGet {
			want = "known.thumbprint"
		}
		if got := res.StatusCode == http.StatusOK && string(text) == want && res.ContentLength == int64(len("known.thumbprint")) && res.Header.Get("Cache-Control") == "no-store"; got != ours {
			t.Errorf("%s %s: got %d, %q, %v, want it answered here: %v", method, path, res.StatusCode, text, res.Header, ours)
		}
		if asked := strings.Contains(res.Header.Get("Cache-Status"), "fwd="); asked == ours {
			t.Errorf("%s %s: got Cache-Status %q, want the origin asked: %v", method, path, res.Header.Get("Cache-Status"), !ours)
		}
	}
	const path = "/.well-known/acme-challenge/"
	f("GET", path+"known", "example.com", true)
	f("GET", path+"known", "of-no-route.example:8080", true)
	f("GET", path+"known?query", "example.com", true)
	f("HEAD", path+"known", "example.com", true)
	f("POST", path+"known", "example.com", false)
	f("GET", path+"known/", "example.com", false)
	f("GET", path+"%6bnown", "example.com", true) // another spelling of it
	f("GET", path+"other", "example.com", false)
	f("GET", path, "example.com", false)
	f("GET", "/.well-known/acme-challenge", "example.com", false)
}
