package proxy_test

import (
	"os"
	"strings"
	"testing"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/edgetest"
)

// onDisk has what r's edges store lie on a disk that outlives them.
func (r *restartRig) onDisk(t *testing.T) {
	t.Helper()
	r.options.DiskPath = t.TempDir()
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
				r.fill(t, e)
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

// Where purges are lost, or kept nowhere, nothing on the disk is served.
func TestNothingComesBackFromADiskWhosePurgesAreUnknown(t *testing.T) {
	f := func(name string, purge func(t *testing.T, e *edgetest.Edge), harm func(t *testing.T, r *restartRig)) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.onDisk(t)
			r.runOnDisk(t, false, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.fill(t, e)
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

	f("all purged", func(t *testing.T, e *edgetest.Edge) {
		if _, _, err := e.Proxy.Purge("all", nil, false); err != nil {
			t.Fatal(err)
		}
	}, func(*testing.T, *restartRig) {})
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
		r.fill(t, e)
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
