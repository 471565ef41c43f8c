package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"edgeproxy/internal/edgetest"
)

// post sends a POST for a target of restartHost, which succeeds.
func post(t *testing.T, e *edgetest.Edge, target string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+e.Address+target, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = restartHost
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: got %d, %v", target, res.StatusCode, err)
	}
}

// storeMany stores count responses of version 1 and returns their targets. Each fourth varies.
func storeMany(t *testing.T, r *restartRig, e *edgetest.Edge, count int) (targets []string) {
	t.Helper()
	for i := range count {
		target := fmt.Sprintf("/many/%d", i)
		if i%4 == 0 {
			target = fmt.Sprintf("/vary-many/%d en", i)
		}
		targets = append(targets, target)
		askEdge(t, e, restartHost, target)
	}
	r.wantVersion(t, e, targets, 1)
	return targets
}

// wantVersion asks for targets. Those of version 1 must come from the cache, the others from the origin.
func (r *restartRig) wantVersion(t *testing.T, e *edgetest.Edge, targets []string, want int64) {
	t.Helper()
	for _, target := range targets {
		if v, status := askEdge(t, e, restartHost, target); v != want || strings.Contains(status, "; hit") != (want == 1) {
			t.Errorf("%s: got version %d, %s, want version %d", target, v, status, want)
		}
	}
}

// TestPostsFlushNothingElseFromTheDisk is the regression test of an attack: each POST left three marks of purges, whatever was
// stored. With a disk nobody waits for room, so the marks folded, and 45 seconds of POSTs for URLs that were never stored
// forgot a third of the disk.
func TestPostsFlushNothingElseFromTheDisk(t *testing.T) {
	const marks = 4 // they fold from the 17th on
	f := func(name string, posted func(i int) string, stored bool) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.onDisk(t)
			r.options.SliceBytes = 0 // such a route leaves a mark in any case
			r.options.PurgeMarks.URLs = marks
			var kept, gone []string
			r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				e.Proxy.Purges.WhenCrowded(func(bool) {}) // as if a sweep took all the time
				targets := storeMany(t, r, e, 80)
				kept = targets
				if stored {
					kept, gone = targets[:40], targets[40:]
				}
				r.version.Add(1)
				for i := range 40 {
					post(t, e, posted(i))
				}
				s := e.Proxy.Purges.Stats()
				if s.Folded > 0 || !stored && s.URLs > 0 {
					t.Errorf("got %+v, want nothing folded, and marks only for what was stored", s)
				}
				r.wantVersion(t, e, kept, 1)
			})
			r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.wantVersion(t, e, gone, 2)
				r.wantVersion(t, e, kept, 1)
			})
		})
	}

	f("never stored", func(i int) string { return fmt.Sprintf("/never/%d", i) }, false)
	f("stored", func(i int) string {
		if i%4 == 0 {
			return fmt.Sprintf("/vary-many/%d", 40+i)
		}
		return fmt.Sprintf("/many/%d", 40+i)
	}, true)
}

// A POST while a fetch for its URL is under way: what that brings is stored neither in this process nor for the next.
func TestAPostReachesAFetchUnderWayWithADisk(t *testing.T) {
	r := newRestartRig(t)
	r.onDisk(t)
	r.options.SliceBytes = 0
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		done := make(chan int64)
		go func() {
			v, _ := askEdge(t, e, restartHost, "/slow")
			done <- v
		}()
		<-r.waiting
		post(t, e, "/slow")
		if got := e.Proxy.Purges.Stats().URLs; got != 1 {
			t.Errorf("got %d marks, want one for the fetch", got)
		}
		close(r.release)
		if v := <-done; v != 1 {
			t.Errorf("got version %d of the fetch, want 1: this proves nothing", v)
		}
		r.version.Add(1)
		r.wantVersion(t, e, []string{"/slow"}, 2)
	})
	r.version.Add(1)
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		if v, status := askEdge(t, e, restartHost, "/slow"); v != 2 || !strings.Contains(status, "; hit") {
			t.Errorf("got version %d, %s, want a hit of 2", v, status)
		}
	})
}
