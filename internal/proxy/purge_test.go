package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/test/edgetest"
)

// TestPurgeRefusesValuesThatCouldNotBeMeant: a purge that is accepted and reaches
// nothing looks like one that worked.
func TestPurgeRefusesValuesThatCouldNotBeMeant(t *testing.T) {
	e := start(t, "", hitOrigin(t))
	c := newHitClient(t, e.Address, hitRequest(http.MethodGet, "/1", ""))
	f := func(want error, by string, values ...string) {
		t.Helper()
		for _, soft := range []bool{false, true} {
			// One that is fine first: with an error, nothing was purged.
			if _, _, err := e.Proxy.Purge(by, append(reachingValues(by), values...), soft); !errors.Is(err, want) {
				t.Errorf("%s %q: got error %v, want %v", by, values, err, want)
			}
		}
		if s := c.learn(t, c.request); s == "" || s[:len("edgeproxy; hit")] != "edgeproxy; hit" {
			t.Errorf("%s %q: got %q afterwards, want a hit: nothing may be purged", by, values, s)
		}
	}

	for _, v := range []string{
		"", "/1", "example.com/1", "ftp://example.com/1", "http:///1", "http://", "http://exa mple.com/1",
		"http://user@example.com/1", "http://example.com/a b", "http://example.com/1#x", "http://example.com:x/1", "http://example.com?q",
	} {
		f(proxy.ErrPurgeURL, "url", v)
		f(proxy.ErrPurgePrefix, "prefix", v)
	}
	for _, v := range []string{"", "http://example.com", "example.com/", "exa mple.com", "a,b", "*", "*.example.com", "example.com:70000"} {
		f(proxy.ErrPurgeHost, "host", v)
	}
	for _, v := range []string{"", "a\tb", "a\nb", "\x7f"} {
		f(proxy.ErrPurgeTag, "tag", v)
	}
	f(proxy.ErrPurgeBy, "path", "/1")
	f(proxy.ErrPurgeBy, "", "/1")
}

// reachingValues returns values that purge what the test has stored.
func reachingValues(by string) []string {
	switch by {
	case "url":
		return []string{"http://example.com/1"}
	case "prefix":
		return []string{"http://example.com"}
	case "host":
		return []string{"example.com"}
	}
	return nil
}

// purgeOthers purges, in every way but all, what the test has not stored, so that
// each hit is held against marks of each kind.
func purgeOthers(tb testing.TB, e *edgetest.Edge) {
	tb.Helper()
	for by, value := range map[string]string{
		"url": "http://example.com/other", "prefix": "http://example.com/10245", "host": "other.example.com", "tag": "other",
	} {
		if _, _, err := e.Proxy.Purge(by, []string{value}, false); err != nil {
			tb.Fatalf("purge %s: %v", by, err)
		}
	}
}

// TestNothingPurgedComesBack lets requests and purges run into each other. An answer
// is a number; a purge comes after the origin has gone on to the next one. A request
// after the purge must not get an older number.
func TestNothingPurgedComesBack(t *testing.T) {
	const clients, requests, pace, targets = 4, 150, 7, 3
	f := func(by, value string, soft bool, policy string, marks ...purge.Options) {
		t.Helper()
		t.Run(fmt.Sprint(by, " soft ", soft, " ", policy, " ", marks), func(t *testing.T) {
			var version, settled atomic.Int64
			yaml, o := always, edgetest.Options{Origin: countingOrigin(t, &version, policy)}
			if len(marks) > 0 { // so few that they are settled again and again
				yaml, o.Seams.Marks = "", marks[0]
			}
			e := start(t, yaml, o)
			answers := make(chan struct{}, clients*requests)
			var asking, purging sync.WaitGroup
			for n := range clients {
				asking.Go(func() {
					r := rand.New(rand.NewPCG(1, uint64(n)))
					client := &http.Client{Transport: &http.Transport{}}
					defer client.CloseIdleConnections()
					for range requests {
						least := settled.Load()
						got, err := askNumber(client, fmt.Sprintf("http://%s/%d", e.Address, r.IntN(targets)))
						if err != nil || got < least {
							t.Errorf("got %d, %v; want at least %d: that was purged", got, err, least)
							return
						}
						answers <- struct{}{}
					}
				})
			}
			purging.Go(func() {
				for n := 0; ; n++ {
					if _, more := <-answers; !more {
						return
					}
					if n%pace > 0 {
						continue
					}
					v := version.Add(1)
					if _, _, err := e.Proxy.Purge(by, []string{value}, soft); err != nil {
						t.Errorf("purge: %v", err)
					}
					settled.Store(v)
				}
			})
			asking.Wait()
			close(answers)
			purging.Wait()
			hits := e.Metric(t, "edgeproxy_requests_total", "route=default", "result=hit", "status=2xx") +
				e.Metric(t, "edgeproxy_requests_total", "route=default", "result=revalidated", "status=2xx")
			if hits == 0 {
				t.Error("nothing came from the store: this proves nothing")
			}
		})
	}

	const fresh, validated = "max-age=3600", "max-age=0"
	f("tag", "t", false, fresh)
	f("tag", "t", false, validated)
	f("tag", "t", true, fresh)
	f("prefix", "http://edge.test/", false, fresh)
	f("host", "edge.test", false, fresh)
	f("all", "", false, fresh)
	f("all", "", true, validated)
	few := purge.Options{Tags: 2, URLs: 2, Hosts: 2, Prefixes: 2}
	f("tag", "t", false, fresh, few)
	f("tag", "t", false, validated, few)
	f("tag", "t", true, fresh, few)
	f("host", "edge.test", false, fresh, few)
	f("prefix", "http://edge.test/", true, validated, few)
}

func askNumber(client *http.Client, url string) (int64, error) {
	req, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Host = "edge.test"
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(body), 10, 64)
}

// countingOrigin answers with the version and its tag, and validates by it.
func countingOrigin(tb testing.TB, version *atomic.Int64, policy string) (address string) {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := strconv.FormatInt(version.Load(), 10)
		w.Header().Set("Cache-Control", policy)
		w.Header().Set("Surrogate-Key", "a t z")
		w.Header().Set("Etag", `"`+v+`"`)
		if r.Header.Get("If-None-Match") == `"`+v+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, v)
	}))
	tb.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// A response on its way that a soft purge had reached was stored while marks were swept: the
// sweep had passed its place, and dropped the mark. It was fresh again.
func TestSoftPurgesHoldDuringASweep(t *testing.T) {
	var purging atomic.Pointer[edgetest.Edge]
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e := purging.Load(); e != nil && strings.HasPrefix(r.URL.Path, "/purged/") && purging.CompareAndSwap(e, nil) {
			if _, _, err := e.Proxy.Purge("url", []string{"http://edge.test" + r.URL.Path}, true); err != nil { // begins a sweep
				t.Error(err)
			}
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = fmt.Fprint(w, count.Add(1))
	}))
	t.Cleanup(server.Close)
	e := start(t, always, edgetest.Options{
		Origin: server.Listener.Addr().String(), Seams: edge.Seams{Marks: purge.Options{Tags: 2, URLs: 2, Hosts: 2, Prefixes: 2}},
	})
	client := dial(t, e.Address)
	defer client.Close()
	for i := range 3000 { // for the sweep to look at
		client.ask(asGet(fmt.Sprintf("/filler/%d", i)))
	}
	var first [200]answer
	for i := range first {
		purging.Store(e)
		first[i] = client.ask(asGet(fmt.Sprintf("/purged/%d", i)))
	}
	sweeps := func() int64 { return e.Proxy.Status().Purges.Sweeps }
	for begun := sweeps(); sweeps() < begun+2; { // the first of the two may have begun before
		if _, _, err := e.Proxy.Purge("url", []string{"http://edge.test/other"}, true); err != nil {
			t.Fatal(err)
		}
	}
	for i := range first {
		if second := client.ask(asGet(fmt.Sprintf("/purged/%d", i))); second.err != nil || first[i].body == second.body {
			t.Errorf("/purged/%d: got answer %q and %q, %v, want another one: it was purged on its way", i, first[i].body, second.body, second.err)
		}
	}
}
