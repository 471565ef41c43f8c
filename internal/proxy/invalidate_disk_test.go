package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
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
			r.sliced = false // such a route leaves a mark in any case
			r.options.Seams.Marks.URLs = marks
			var kept, gone []string
			r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				e.Proxy.Purges.WhenCrowded(func(bool) {}) // a sweep that takes all the time
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
	r.sliced = false
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

// TestPostsToAKeyedRouteWroteToTheDiskEach is the regression test of an attack: on a route with slices, or with headers in its keys, each POST of a stranger
// left a mark, and the journal of purges was written and synced for it, whether or not anything was stored.
func TestPostsToAKeyedRouteWroteToTheDiskEach(t *testing.T) {
	f := func(name string, keyed func(r *restartRig), stored string) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.sliced = false
			keyed(r)
			never := func(t *testing.T, e *edgetest.Edge, count int) {
				t.Helper()
				for i := range count {
					post(t, e, fmt.Sprintf("/never/%d", i))
				}
			}
			journal := func(t *testing.T) int64 {
				t.Helper()
				info, err := os.Stat(r.journal())
				if err != nil {
					t.Fatal(err)
				}
				return info.Size()
			}
			r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				for _, target := range []string{stored + "1", stored + "2", stored + "3"} {
					askEdge(t, e, restartHost, target)
				}
				before := journal(t)
				never(t, e, 20)
				if got := e.Proxy.Purges.Stats().URLs; got != 0 {
					t.Errorf("got %d marks, want none: nothing is stored", got)
				}
				if got := journal(t); got != before {
					t.Errorf("got a journal of %d bytes, want %d as before", got, before)
				}
				r.version.Add(1)
				post(t, e, stored+"1")
				if got := e.Proxy.Purges.Stats().URLs; got != 1 {
					t.Errorf("got %d marks, want one of what is stored", got)
				}
				r.wantVersion(t, e, []string{stored + "1"}, 2)
				r.wantVersion(t, e, []string{stored + "2", stored + "3"}, 1)
				post(t, e, stored+"2")
			})
			r.options.Seams.Marks.URLs = 32 // half of them are swept
			r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.wantVersion(t, e, []string{stored + "3"}, 1)
				r.version.Store(3)
				if v, status := askEdge(t, e, restartHost, stored+"2"); v != 3 {
					t.Errorf("got version %d, %s, want 3: a POST before the restart", v, status)
				}
				post(t, e, stored+"3") // the URL is one of the process before
				if v, status := askEdge(t, e, restartHost, stored+"3"); v != 3 {
					t.Errorf("got version %d, %s, want 3: a POST after the restart", v, status)
				}
				never(t, e, 40) // what the disk has is not known yet, so they leave marks, until a sweep has seen it
				testkit.Eventually(t, "that POSTs leave no marks", func() bool {
					before := e.Proxy.Purges.Now()
					post(t, e, "/never/0")
					return e.Proxy.Purges.Now() == before
				})
				r.version.Store(4)
				post(t, e, stored+"1")
				post(t, e, stored+"2")
				for _, target := range []string{stored + "1", stored + "2"} {
					if v, status := askEdge(t, e, restartHost, target); v != 4 {
						t.Errorf("%s: got version %d, %s, want 4: a POST after the sweep", target, v, status)
					}
				}
			})
		})
	}

	f("slices", func(r *restartRig) { r.sliced = true }, "/sliced-many/")
	f("headers", func(r *restartRig) { r.cache = "key: {headers: [X-Region]}" }, "/many/")
}

// What is stored while a sweep runs, or was about to be when it began, is reached by a POST behind it.
func TestAPostReachesWhatWasStoredBesideASweep(t *testing.T) {
	r := newRestartRig(t)
	r.sliced = false
	r.cache = "key: {headers: [X-Region]}"
	r.options.Seams.Marks.URLs = 16
	r.runOnDisk(t, false, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		for round := range int64(20) {
			r.version.Store(2*round + 1)
			var targets []string
			for i := range 5 {
				targets = append(targets, fmt.Sprintf("/beside/%d/%d", round, i))
				askEdge(t, e, restartHost, targets[i])
				if _, _, err := e.Proxy.Purge("url", []string{fmt.Sprintf("http://x.example.com/%d/%d", round, i)}, false); err != nil { // these make sweeps
					t.Fatal(err)
				}
			}
			r.version.Add(1)
			for _, target := range targets {
				post(t, e, target)
				if v, status := askEdge(t, e, restartHost, target); v != 2*round+2 {
					t.Errorf("%s: got version %d, %s, want %d", target, v, status, 2*round+2)
				}
			}
		}
	})
}
