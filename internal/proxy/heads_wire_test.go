package proxy_test

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Some hundred answers have the head of the first: every field, the origin's
// Date too.
func TestEveryHitHasTheSameHead(t *testing.T) {
	e := start(t, "", hitOrigin(t))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // or GET and HEAD would differ
	defer client.CloseIdleConnections()
	ask := func(method, path string) (http.Header, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+e.Address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Header.Values("Age"); len(got) != 1 {
			t.Fatalf("%s %s: got Age %q, want one", method, path, got)
		}
		if got := res.Header.Values("Cache-Status"); len(got) != 1 {
			t.Fatalf("%s %s: got Cache-Status %q, want one", method, path, got)
		}
		res.Header.Del("Age") // they change from answer to answer
		res.Header.Del("Cache-Status")
		return res.Header, string(body)
	}
	for _, path := range []string{"/1024", "/vary/1024"} {
		for range 2 { // the first and the second sighting
			res, err := client.Get("http://" + e.Address + path)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		want, body := ask(http.MethodGet, path)
		for i := range 600 {
			got, again := ask(http.MethodGet, path)
			if diff := cmp.Diff(want, got); diff != "" || again != body {
				t.Fatalf("%s, answer %d (-first +this):\n%s", path, i, diff)
			}
		}
		head, _ := ask(http.MethodHead, path)
		if diff := cmp.Diff(want, head); diff != "" {
			t.Errorf("HEAD %s (-GET +HEAD):\n%s", path, diff)
		}
	}
}

// A route that sends tags sends them to trusted proxies alone, also once the head of the entry
// is kept: that has all fields.
func TestAHitTellsNobodyElseTheTags(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("clients have addresses of 127.0.0.0/8")
	}
	e := start(t, `
listen: [{address: "127.0.0.1:0", trusted_proxies: [127.0.0.2]}]
cache: {send_tags: true}
`, hitOrigin(t))
	ask := func(from byte, times int, want string) {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
		defer client.CloseIdleConnections()
		for i := range times {
			res, err := client.Get("http://" + e.Address + "/1024")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if got := res.Header.Get("Surrogate-Key"); got != want || res.Header.Get("Etag") != hitETag {
				t.Fatalf("127.0.0.%d, answer %d: got Surrogate-Key %q, want %q", from, i, got, want)
			}
		}
	}
	const tags = "a product shop-7"
	ask(3, 600, "")
	ask(2, 600, tags)
	ask(3, 600, "")
	ask(2, 600, tags)
}
