package proxy_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/edgetest"
)

// A head that is copied from the kept one, after some hundred answers, is the
// head that was parsed: every field, the origin's Date too.
func TestAKeptHeadIsTheHeadThatWasParsed(t *testing.T) {
	e := edgetest.Start(t, edgetest.Options{Origin: hitOrigin(t)})
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
