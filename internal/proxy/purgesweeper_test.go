package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// TestManyPurgesForgetNothingElse is the regression test of marks that had to make room for
// others: after 400,000 URLs were purged one by one, 95 of 100 stored URLs that nobody had
// meant were gone. It prints the share that is still served.
func TestManyPurgesForgetNothingElse(t *testing.T) {
	testkit.Plain(t, "one goroutine purges 624,000 times")
	const batch = 1000
	kept, part := testkit.Times(1000, 200), testkit.Times(1, 4) // a quarter is still more than half the room for marks of each kind
	f := func(by, form string, count int) {
		t.Helper()
		count /= part
		t.Run(by, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "max-age=600")
				_, _ = io.WriteString(w, "x")
			}))
			t.Cleanup(server.Close)
			e := start(t, always+"cache: {key: {headers: [X-Lang]}} # its purges need marks\n", edgetest.Options{Origin: server.Listener.Addr().String()})
			ask := func() (hits int) {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for i := range kept {
					if fromCache(t, client, fmt.Sprintf("http://%s/kept/%d", e.Address, i)) {
						hits++
					}
				}
				return hits
			}
			ask()
			values := make([]string, batch)
			begun := time.Now()
			for n := 0; n < count; n += batch {
				for i := range values {
					values[i] = fmt.Sprintf(form, n+i)
				}
				if _, _, err := e.Proxy.Purge(by, values, false); err != nil {
					t.Fatal(err)
				}
			}
			took := time.Since(begun)
			hits, s := ask(), e.Proxy.Status().Purges
			t.Logf("%d purges by %s in %v (%v each), %d sweeps: %d of %d untouched URLs are served from the cache",
				count, by, took.Round(time.Millisecond), took/time.Duration(count), s.Sweeps, hits, kept)
			if hits != kept {
				t.Errorf("got %d hits of %d untouched URLs, want all", hits, kept)
			}
			if s.Sweeps == 0 {
				t.Error("got no sweep: this proves nothing")
			}
		})
	}

	f("url", "http://edge.test/purged/%d", 400_000)
	f("tag", "product-%d", 200_000)
	f("host", "h%d.test", 20_000)
	f("prefix", "http://edge.test/purged/%d/", 4_000)
}

// fromCache reports whether the answer came from the cache.
func fromCache(tb testing.TB, client *http.Client, url string) bool {
	tb.Helper()
	req, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	req.Host = "edge.test"
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.Header.Get("Age") != ""
}
