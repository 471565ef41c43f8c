package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/test/edgetest"
)

// oneTimers is how many visitors come once, each with a value of its own.
const oneTimers = 40

// variantOrigin answers with what it varies by.
func variantOrigin(t testing.TB, vary ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		var values []string
		for _, line := range vary {
			w.Header().Add("Vary", line)
			for name := range strings.SplitSeq(line, ", ") {
				values = append(values, r.Header.Get(name))
			}
		}
		fmt.Fprint(w, strings.Join(values, "/"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func askWith(t testing.TB, e *edgetest.Edge, fields string) answer {
	t.Helper()
	return dial(t, e.Address).ask("GET /page HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n")
}

// admittedWrites returns how many responses that admission let in were written, to memory or to a disk.
func admittedWrites(s cache.Stats) int64 { return s.Writes - s.Copies + s.Disk.Writes }

// wantFills holds the books of e to its identities.
func wantFills(t *testing.T, e *edgetest.Edge, requests int64) {
	t.Helper()
	settled := func() bool { s := e.Proxy.Status(); return s.RequestsInFlight == 0 && s.Flights == 0 }
	if !comesTrue(settled) {
		t.Fatal("the edge did not come to rest")
	}
	var results float64
	for _, r := range []string{"hit", "miss", "held_back"} {
		results += e.Metric(t, "edgeproxy_requests_total", "route=default", "result="+r, "status=2xx")
	}
	if int64(results) != requests {
		t.Errorf("got %v requests by result, want %d", results, requests)
	}
	s := e.Proxy.Status().Routes[0].Fills
	if s.Storable != s.Stored+s.HeldBack+s.Refused {
		t.Errorf("got %+v, want storable = stored + held back + refused", s)
	}
	st := e.Store.Stats()
	if got := admittedWrites(st); got != s.Stored+st.Stage.Promoted {
		t.Errorf("got %d writes, %d stored and %d promoted", got, s.Stored, st.Stage.Promoted)
	}
}

// TestOneTimeVariantsAreNotStored: 40 visitors with a cookie each wrote 40 objects, and the
// one without cookies that all others asked for was gone.
func TestOneTimeVariantsAreNotStored(t *testing.T) {
	const counting = "admission: {policy: counting, counting: {more_than: 2}}\n"
	f := func(name, yaml string, together bool, field string, vary ...string) {
		t.Run(name, func(t *testing.T) {
			e := start(t, yaml, edgetest.Options{Origin: variantOrigin(t, vary...)})
			for range 4 {
				askWith(t, e, "")
			}
			before := e.Store.Stats()
			var visitors sync.WaitGroup
			for i := range oneTimers {
				visit := func() {
					want := fmt.Sprintf("_ga=%d", i)
					if a := askWith(t, e, fmt.Sprintf("%s: %s\r\n", field, want)); a.err != nil || !strings.Contains(a.body, want) {
						t.Errorf("visitor %d: got %q %v", i, a.body, a.err)
					}
				}
				if together {
					visitors.Go(visit)
				} else {
					visit()
				}
			}
			visitors.Wait()
			if a := askWith(t, e, ""); !strings.Contains(a.cache, "; hit; ") {
				t.Errorf("without the field: got %q, want a hit", a.cache)
			}
			after := e.Store.Stats()
			if first, got := admittedWrites(before), admittedWrites(after)-admittedWrites(before); first != 1 || got != 0 {
				t.Errorf("got %d writes before the visitors and %d for them, want 1 and 0", first, got)
			}
			if gone := after.Capacity + after.Rejected + after.Variants; gone != 0 {
				t.Errorf("got %d evictions, want none", gone)
			}
			wantFills(t, e, 4+oneTimers+1)
		})
	}
	for _, together := range []bool{false, true} {
		way := map[bool]string{false: "", true: ", together"}[together]
		f("Cookie"+way, held, together, "Cookie", "Cookie")
		f("Accept-Language"+way, held, together, "Accept-Language", "Accept-Language")
		f("User-Agent"+way, held, together, "User-Agent", "User-Agent")
		f("two lines"+way, held, together, "Cookie", "Accept-Encoding", "Cookie, X-Kind")
		f("counting"+way, counting+held, together, "Cookie", "Cookie")
		f("a stage"+way, "", together, "Cookie", "Cookie")
	}
}

// TestFirstVisitorsTogetherAdmitOnlyTheirOwnVariant: requests that come together are one
// fetch until its header is here. Joining it admits what those ask for who ask for the same.
func TestFirstVisitorsTogetherAdmitOnlyTheirOwnVariant(t *testing.T) {
	const variants, each = 10, 4
	ready := make(chan struct{})
	var fetches atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetches.Add(1)
		<-ready
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Vary", "Cookie")
		fmt.Fprint(w, r.Header.Get("Cookie"))
	}))
	t.Cleanup(s.Close)
	e := start(t, held, edgetest.Options{Origin: s.Listener.Addr().String()})
	var visitors sync.WaitGroup
	visit := func(cookie string) {
		visitors.Go(func() {
			if a := askWith(t, e, "Cookie: "+cookie+"\r\n"); a.body != cookie {
				t.Errorf("got %q %v, want %q", a.body, a.err, cookie)
			}
		})
	}
	for v := range variants {
		for range each {
			visit(fmt.Sprintf("common=%d", v))
		}
	}
	for i := range oneTimers {
		visit(fmt.Sprintf("_ga=%d", i))
	}
	const all = variants*each + oneTimers
	go func() {
		defer close(ready)
		_ = comesTrue(func() bool { return e.Proxy.Status().RequestsInFlight >= all })
	}()
	visitors.Wait()
	wantFills(t, e, all)
	if got := admittedWrites(e.Store.Stats()); got != variants {
		t.Errorf("got %d writes, want the %d variants that more than one had asked for", got, variants)
	}
	// A fetch may end before the next one of its variant has come from the first fetch.
	if got := fetches.Load(); got < variants+oneTimers || got > 2*variants+oneTimers {
		t.Errorf("got %d fetches, want one for each of %d variants, or two if several ask for it", got, variants+oneTimers)
	}
}

// TestVariantsAreKnownAfterARestart: of Vary nothing is kept with the sightings, so the
// first response says by which of them the request counts.
func TestVariantsAreKnownAfterARestart(t *testing.T) {
	dir, o := t.TempDir(), edgetest.Options{Origin: variantOrigin(t, "Cookie")}
	const yaml = held + `admission: {state: "{dir}/state"}`
	e := startIn(t, dir, yaml, o)
	askWith(t, e, "Cookie: a=1\r\n").want(t, 200, "fwd=uri-miss; detail=first-sighting", "a=1")
	e.Stop()
	e = startIn(t, dir, yaml, o)
	askWith(t, e, "Cookie: a=2\r\n").want(t, 200, "fwd=uri-miss; detail=first-sighting", "a=2")
	askWith(t, e, "Cookie: a=1\r\n").want(t, 200, "fwd=uri-miss; stored", "a=1")
	askWith(t, e, "Cookie: a=2\r\n").want(t, 200, "fwd=vary-miss; stored", "a=2")
	wantFills(t, e, 3)
}
