package proxy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/cache/disk"
	edgetest "edgeproxy/internal/test/oldrig"
)

// onDisk has what r's edges store lie on a disk that outlives them.
func (r *restartRig) onDisk(t *testing.T) {
	t.Helper()
	r.options.DiskPath = t.TempDir()
}

// runOn runs test before an edge with all that the one before has left, in order or by a kill at
// the end of test.
func (r *restartRig) runOn(t *testing.T, kill bool, test func(t *testing.T, e *edgetest.Edge)) {
	t.Helper()
	if kill {
		test(t, startOld(t, r.options))
		r.killed(t)
		return
	}
	t.Run("run", func(t *testing.T) { test(t, startOld(t, r.options)) })
}

// runOnDisk runs test before an edge with all that the one before has on its disk, in order or by a kill at the end of test,
// when all is written.
func (r *restartRig) runOnDisk(t *testing.T, kill bool, test func(t *testing.T, e *edgetest.Edge)) {
	t.Helper()
	r.runOn(t, kill, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		if err := e.Disk().Each(func(*disk.Item) bool { return true }); err != nil { // its index is filled then
			t.Fatal(err)
		}
		test(t, e)
		if !kill {
			return
		}
		if err := e.Disk().Flush(); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		if err := os.CopyFS(to, os.DirFS(r.options.DiskPath)); err != nil {
			t.Fatal(err)
		}
		r.options.DiskPath = to
	})
}

// TestTheDiskComesBackByARestartWithoutWhatWasPurged: what was purged is not served, what was purged softly is validated, and all else is
// a hit; also after the next restart, when what was fetched anew is a hit as well.
func TestTheDiskComesBackByARestartWithoutWhatWasPurged(t *testing.T) {
	f := func(name string, kill bool, sliceBytes int64) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.onDisk(t)
			r.options.SliceBytes = sliceBytes
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

	f("in order", false, 0)
	f("killed", true, 0)
	f("in order, with slices", false, 1024)
	f("killed, with slices", true, 1024)
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
			r.onDisk(t)
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
		if err := os.Remove(filepath.Join(r.options.PurgeDir, "purges")); err != nil {
			t.Fatal(err)
		}
	})
	f("the marks are lost", nothing, func(t *testing.T, r *restartRig) {
		t.Helper()
		r.options.PurgeDir = t.TempDir()
	})
	f("marks are not kept", nothing, func(_ *testing.T, r *restartRig) { r.options.PurgeDir = "" })
}

// A sweep of purges forgets what they have reached on the disk, before it drops the marks. What was purged softly is stale there from then on: it was forgotten, and
// could not stand in for an origin that fails.
func TestASweepOfPurgesGoesOverTheDisk(t *testing.T) {
	r := newRestartRig(t)
	r.onDisk(t)
	r.options.SliceBytes = 0
	r.options.PurgeMarks.URLs = 64
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
	r.onDisk(t)
	r.options.SliceBytes = 0
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
	r.onDisk(t)
	before := int64(0)
	r.runOnDisk(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		r.store(t, e)
		if _, _, err := e.Proxy.Purge("url", []string{"http://" + restartHost + "/dir/1"}, false); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(r.options.PurgeDir, "purges"))
		if err != nil {
			t.Fatal(err)
		}
		before = info.Size()
		purgeSome(t, e)
		askEdge(t, e, restartHost, "/since")
	})
	if err := os.Truncate(filepath.Join(r.options.PurgeDir, "purges"), before); err != nil {
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
