package proxy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/edgetest"
)

// inFiles has the tier of r outlive its edges.
func (r *restartRig) inFiles(t *testing.T) {
	t.Helper()
	r.options.Folder = t.TempDir()
}

// runOn runs test before an edge with all that the one before has left, in order or by a kill at
// the end of test.
func (r *restartRig) runOn(t *testing.T, kill bool, test func(t *testing.T, e *edgetest.Edge)) {
	t.Helper()
	if kill {
		test(t, edgetest.Start(t, r.options))
		r.killed(t)
		return
	}
	t.Run("run", func(t *testing.T) { test(t, edgetest.Start(t, r.options)) })
}

// TestAllButWhatWasPurgedComesBackByARestart: where the tier of the edge itself outlives it, what was
// purged is not served, what was purged softly is validated, and all else is a hit; also after the
// next restart, when what was fetched anew is a hit as well.
func TestAllButWhatWasPurgedComesBackByARestart(t *testing.T) {
	f := func(name string, kill bool, sliceBytes int64) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.inFiles(t)
			r.options.SliceBytes = sliceBytes
			r.runOn(t, kill, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.fill(t, e)
				purgeSome(t, e)
			})
			r.runOn(t, kill, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				if e.Restored == 0 {
					t.Error("nothing has come back")
				}
				r.check(t, e)
			})
			latest := r.version.Load()
			r.version.Add(1)
			r.runOn(t, kill, func(t *testing.T, e *edgetest.Edge) {
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

// What a purge of everything has reached does not come back, nor does anything where purges
// are lost.
func TestNothingComesBackFromFilesThatIsAllPurged(t *testing.T) {
	f := func(name string, purge func(t *testing.T, e *edgetest.Edge), harm func(path string) error) {
		t.Run(name, func(t *testing.T) {
			r := newRestartRig(t)
			r.inFiles(t)
			r.runOn(t, true, func(t *testing.T, e *edgetest.Edge) {
				t.Helper()
				r.fill(t, e)
				purge(t, e)
			})
			if err := harm(filepath.Join(r.options.PurgeDir, "purges")); err != nil {
				t.Fatal(err)
			}
			r.version.Add(1)
			r.runOn(t, true, func(t *testing.T, e *edgetest.Edge) {
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
	all := func(soft bool) func(t *testing.T, e *edgetest.Edge) {
		return func(t *testing.T, e *edgetest.Edge) {
			t.Helper()
			if _, _, err := e.Proxy.Purge("all", nil, soft); err != nil {
				t.Fatal(err)
			}
		}
	}

	f("all", all(false), func(string) error { return nil })
	f("all, softly", all(true), func(string) error { return nil })
	f("the marks are lost", func(*testing.T, *edgetest.Edge) {}, os.Remove)
}

// What an unsafe request has invalidated stays away, and what a 304 has renewed is fresh for as
// long as the 304 said.
func TestInvalidationsAndRenewalsOutliveTheProcess(t *testing.T) {
	r := newRestartRig(t)
	r.inFiles(t)
	r.options.SliceBytes = 0
	r.runOn(t, true, func(t *testing.T, e *edgetest.Edge) {
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
	r.runOn(t, true, func(t *testing.T, e *edgetest.Edge) {
		t.Helper()
		for target, want := range map[string]int64{"/posted": 2, "/soft": 1, "/kept": 1} {
			if v, status := askEdge(t, e, restartHost, target); v != want {
				t.Errorf("%s: got version %d, %s, want %d", target, v, status, want)
			}
		}
	})
}
