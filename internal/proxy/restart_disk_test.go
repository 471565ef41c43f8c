package proxy_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/test/edgetest"
)

// runOnDisk runs test before an edge with all that the one before has on its disk, in order or by a kill at the end of test,
// when all is written.
func (r *restartRig) runOnDisk(t *testing.T, kill bool, test func(t *testing.T, e *edgetest.Edge)) {
	t.Helper()
	run := func(t *testing.T) *edgetest.Edge {
		t.Helper()
		e := r.start(t)
		if err := e.Disk().Each(func(*disk.Item) bool { return true }); err != nil { // its index is filled then
			t.Fatal(err)
		}
		test(t, e)
		return e
	}
	if !kill {
		t.Run("run", func(t *testing.T) { run(t) })
		return
	}
	if err := run(t).Disk().Flush(); err != nil {
		t.Fatal(err)
	}
	r.move(t)
}

// TestTheDiskComesBackByARestartWithoutWhatWasPurged: what was purged is not served, what was purged softly is validated, and all else is
// a hit; also after the next restart, when what was fetched anew is a hit as well.
func TestTheDiskComesBackByARestartWithoutWhatWasPurged(t *testing.T) {
	f := func(name string, kill, sliced bool) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.sliced = sliced
			r.runOnDisk(t, kill, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.store(t, e)
				purgeSome(t, e)
			})
			r.runOnDisk(t, kill, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.check(t, e)
			})
			latest := r.version.Load()
			r.version.Add(1)
			r.runOnDisk(t, kill, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.checkAgain(t, e, latest)
			})
		})
	}

	f("in order", false, false)
	f("killed", true, false)
	f("in order, with slices", false, true)
	f("killed, with slices", true, true)
}

// checkAgain asks for all targets after the restart behind check: they are hits, of version 1 or of
// latest, but for what is stored by a rule for queries.
func (r *restartRig) checkAgain(t *testing.T, e *edgetest.Edge, latest int64) {
	t.Helper()
	for kind, targets := range restartTargets() {
		for _, target := range targets {
			want := latest
			if kind == "kept" {
				want = 1
			}
			v, status := askEdge(t, e, restartHost, target)
			if strings.HasPrefix(target, "/search") && v == r.version.Load() {
				continue
			}
			if v != want || !strings.Contains(status, "; hit") {
				t.Errorf("%s: got version %d, %s, want a hit of %d", target, v, status, want)
			}
		}
	}
}

// Where purges are lost, or kept nowhere, nothing on the disk is served.
func TestNothingComesBackFromADiskWhosePurgesAreUnknown(t *testing.T) {
	f := func(name string, purge func(t *testing.T, e *edgetest.Edge), harm func(t *testing.T, r *restartRig)) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.runOnDisk(t, false, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.store(t, e)
				purge(t, e)
			})
			harm(t, r)
			r.version.Add(1)
			r.runOnDisk(t, false, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				for _, targets := range restartTargets() {
					for _, target := range targets {
						if v, status := askEdge(t, e, restartHost, target); v != 2 {
							t.Errorf("%s: got version %d, %s, want 2", target, v, status)
						}
					}
				}
			})
		})
	}
	nothing := func(*testing.T, *edgetest.Edge) {}

	all := func(soft bool) func(t *testing.T, e *edgetest.Edge) {
		return func(t *testing.T, e *edgetest.Edge) {
			t.Helper()
			if _, _, err := e.Proxy.Purge("all", nil, soft); err != nil {
				t.Fatal(err)
			}
		}
	}

	f("all purged", all(false), func(*testing.T, *restartRig) {})
	f("all purged softly", all(true), func(*testing.T, *restartRig) {})
	f("the file of the marks is lost", nothing, func(t *testing.T, r *restartRig) {
		t.Helper()
		if err := os.Remove(r.journal()); err != nil {
			t.Fatal(err)
		}
	})
	f("the marks are lost", nothing, func(t *testing.T, r *restartRig) {
		t.Helper()
		if err := os.RemoveAll(r.purgesPath()); err != nil {
			t.Fatal(err)
		}
	})
	f("the marks are of another disk", nothing, func(t *testing.T, r *restartRig) {
		t.Helper()
		other := newRestartRig(t)
		other.start(t).Stop()
		if err := os.RemoveAll(r.purgesPath()); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(r.purgesPath(), os.DirFS(other.purgesPath())); err != nil {
			t.Fatal(err)
		}
	})
}

// A sweep of purges forgets what they have reached on the disk, before it drops the marks. What was purged softly is stale there from then on: it was forgotten, and
// could not stand in for an origin that fails.
func TestASweepOfPurgesGoesOverTheDisk(t *testing.T) {
	r := newRestartRig(t)
	r.sliced = false
	r.options.Seams.Marks.URLs = 64
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		r.store(t, e)
		purgeSome(t, e)
		before := e.Proxy.Purges.Settled()
		for i := 0; e.Proxy.Purges.Settled() == before; i++ {
			if i > 100_000 {
				t.Fatal("no sweep has ended")
			}
			if _, _, err := e.Proxy.Purge("url", []string{"http://other.example.com/" + string(rune('a'+i%26))}, false); err != nil {
				t.Fatal(err)
			}
		}
	})
	r.version.Add(1)
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		for kind, targets := range restartTargets() {
			for _, target := range targets {
				want := int64(2)
				if kind == "kept" {
					want = 1
				}
				v, status := askEdge(t, e, restartHost, target)
				if v != want || strings.Contains(status, "fwd=stale") != (kind == "soft") {
					t.Errorf("%s %s: got version %d, %s, want %d", kind, target, v, status, want)
				}
			}
		}
	})
}

// What an unsafe request has invalidated stays away. What was purged softly and confirmed by a 304 is validated once
// more: its record on the disk is that of before (cache/patch.go).
func TestInvalidationsAndSoftPurgesOnDiskOutliveTheProcess(t *testing.T) {
	r := newRestartRig(t)
	r.sliced = false
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		for _, target := range []string{"/posted", "/soft", "/kept"} {
			askEdge(t, e, restartHost, target)
		}
		req, err := http.NewRequest(http.MethodPost, "http://"+e.Address+"/posted", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host, req.Close = restartHost, true
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if _, _, err := e.Proxy.Purge("url", []string{"http://" + restartHost + "/soft"}, true); err != nil {
			t.Fatal(err)
		}
		if _, status := askEdge(t, e, restartHost, "/soft"); !strings.Contains(status, "fwd-status=304") {
			t.Fatalf("got %s, want a confirmation", status)
		}
	})
	r.version.Add(1)
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		f := func(target string, version int64, want string) {
			t.Helper()
			if v, status := askEdge(t, e, restartHost, target); v != version || !strings.Contains(status, want) {
				t.Errorf("%s: got version %d, %s, want %d, %s", target, v, status, version, want)
			}
		}
		f("/posted", 2, "fwd=uri-miss")
		f("/soft", 2, "fwd=stale")
		f("/kept", 1, "; hit")
	})
}

// A journal of purges that was cut between two of them passed for one that is whole. The disk came back with what the others had purged.
func TestAPurgeJournalCutInItsMiddleBroughtBackTheDisk(t *testing.T) {
	r := newRestartRig(t)
	before := int64(0)
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		r.store(t, e)
		if _, _, err := e.Proxy.Purge("url", []string{"http://" + restartHost + "/dir/1"}, false); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(r.journal())
		if err != nil {
			t.Fatal(err)
		}
		before = info.Size()
		purgeSome(t, e)
		askEdge(t, e, restartHost, "/since")
	})
	if err := os.Truncate(r.journal(), before); err != nil {
		t.Fatal(err)
	}
	r.version.Add(1)
	for range 2 {
		r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
			t.Helper()
			if v, status := askEdge(t, e, restartHost, "/since"); v != 1 || !strings.Contains(status, "; hit") {
				t.Errorf("/since: got version %d, %s, want a hit: it was stored after the last purge", v, status)
			}
			for _, targets := range restartTargets() {
				for _, target := range targets {
					if v, status := askEdge(t, e, restartHost, target); v != 2 {
						t.Errorf("%s: got version %d, %s, want 2", target, v, status)
					}
				}
			}
		})
	}
}
