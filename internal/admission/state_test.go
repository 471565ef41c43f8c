package admission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/cache/statefile"
)

const testSeed = 0x5eed

// kept returns o with a state at path.
func kept(o Options, path string) Options {
	o.State = &StateOptions{Path: path, Seed: testSeed}
	return o
}

// saved runs fill on a gate for o and saves it to a new file.
func saved(t *testing.T, o Options, fill func(g *Gate)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state")
	g, err := New(kept(o, path), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	g.StartSaving()
	fill(g)
	g.Close()
	return path
}

// load reads the state at path.
func load(t testing.TB, path string) *State {
	t.Helper()
	st, err := LoadState(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// restored returns a gate for o that goes on from path. Its own saves go
// elsewhere.
func restored(t testing.TB, o Options, path string) *Gate {
	t.Helper()
	o = kept(o, filepath.Join(t.TempDir(), "next"))
	o.Restore = load(t, path)
	g, err := New(o, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func wantProblems(t *testing.T, g *Gate, want ...string) {
	t.Helper()
	got := g.Problems()
	for i, w := range want {
		if i >= len(got) || !strings.Contains(got[i].Error(), w) {
			t.Errorf("problems: got %v, want number %d to contain %q", got, i+1, w)
		}
	}
	if len(got) > len(want) {
		t.Errorf("problems: got %v, want %d", got, len(want))
	}
}

func TestSightingsSurviveARestart(t *testing.T) {
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		o := Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)}
		o.SecondHit.Generations, o.Counting.Generations = generations, generations
		path := saved(t, o, func(g *Gate) {
			for key := range uint64(500) {
				g.sight(secondHit, key)
				g.sight(more4, key)
				g.sight(more4, key)
				g.filled(secondHit, key, true)
				g.filled(secondHit, key, key%2 == 0)
				g.filled(more4, key, true)
			}
		})
		if got := load(t, path).Seed(); got != testSeed {
			t.Errorf("seed: got %#x, want %#x", got, testSeed)
		}
		g := restored(t, o, path)
		wantProblems(t, g)
		for key := range uint64(500) {
			if !g.sight(secondHit, key).Admit {
				t.Fatalf("%d generations, second-hit, key %d: got forgotten, want remembered", generations, key)
			}
			if got := g.sight(more4, key).Sightings; got != 3 {
				t.Fatalf("%d generations, counting, key %d: got %d sightings, want 3", generations, key, got)
			}
			if got, want := g.filled(secondHit, key, false), key%2 == 0; got != want {
				t.Fatalf("%d generations, key %d: got regret %v, want %v", generations, key, got, want)
			}
			if !g.filled(more4, key, false) {
				t.Fatalf("%d generations, counting, key %d: got no regret, want it", generations, key)
			}
		}
		if g.sight(secondHit, 501).Admit || g.sight(more4, 501).Sightings != 1 {
			t.Error("a key never sighted: got remembered, want unseen")
		}
		for _, s := range g.Stats(time.Now()) {
			if s.Measured.Unseen != 0 || s.Measured.FalseNegatives != 0 {
				t.Errorf("%s: got %+v, want no verdict on what the sample never saw", s.Name, s.Measured)
			}
		}
	}
}

func TestTheFirstStartHasNothingToLoad(t *testing.T) {
	if _, err := LoadState(filepath.Join(t.TempDir(), "state"), time.Now()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// What fits is taken, what does not begins anew, and Problems says why.
func TestOnlyWhatFitsIsRestored(t *testing.T) {
	both := Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)}
	path := saved(t, both, func(g *Gate) {
		g.sight(secondHit, 1)
		g.sight(more4, 1)
		g.filled(secondHit, 1, true)
	})
	f := func(name string, o Options, hit, count, regret bool, problems ...string) {
		t.Helper()
		g := restored(t, o, path)
		t.Log(name)
		wantProblems(t, g, problems...)
		if got := o.SecondHit != nil && g.sight(secondHit, 1).Admit; got != hit {
			t.Errorf("second-hit: got remembered %v, want %v", got, hit)
		}
		if got := o.Counting != nil && g.sight(more4, 1).Sightings == 2; got != count {
			t.Errorf("counting: got remembered %v, want %v", got, count)
		}
		if got := g.filled(secondHit, 1, false); got != regret {
			t.Errorf("regret: got %v, want %v", got, regret)
		}
	}
	f("all the same", both, true, true, true)
	f("one filter less", Options{SecondHit: both.SecondHit}, true, false, true)
	f("another capacity", Options{SecondHit: section(time.Hour, 2000), Counting: both.Counting}, false, true, false,
		"second_hit filter begins anew", "second_hit/held-back filter begins anew", "second_hit/stored filter begins anew")
	rate := *both.SecondHit
	rate.FalsePositiveRate = 0.001
	f("another rate", Options{SecondHit: &rate, Counting: both.Counting}, false, true, true,
		"second_hit filter begins anew: load a sliding filter: saved state: false_positive_rate: 1e-06: must be 0.001")
	three := *both.Counting
	three.Generations = 3
	f("another number of generations", Options{SecondHit: both.SecondHit, Counting: &three}, true, false, true,
		"counting filter begins anew", "counting/held-back", "counting/stored")
	period := *both.SecondHit
	period.RotateEvery = 2 * time.Hour
	f("another period is no other filter", Options{SecondHit: &period, Counting: both.Counting}, true, true, true)
}

func TestANewFilterIsNoProblem(t *testing.T) {
	path := saved(t, Options{Counting: section(time.Hour, 1000)}, func(g *Gate) { g.sight(more4, 1) })
	g := restored(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)}, path)
	wantProblems(t, g)
	if g.sight(secondHit, 1).Admit || g.sight(more4, 1).Sightings != 2 {
		t.Error("want the kept filter restored and the new one empty")
	}
}

func TestSightingsUnderAnotherSeedAreNotTaken(t *testing.T) {
	o := Options{SecondHit: section(time.Hour, 1000)}
	path := saved(t, o, func(g *Gate) { g.sight(secondHit, 1) })
	o = kept(o, filepath.Join(t.TempDir(), "next"))
	o.State.Seed++
	o.Restore = load(t, path)
	g := newGate(t, o)
	wantProblems(t, g, "another seed")
	if g.sight(secondHit, 1).Admit {
		t.Error("got the sighting of another key, want none")
	}
}

func TestAStateThatOthersMayReadIsTakenWithAWarningAndMadePrivate(t *testing.T) {
	o := Options{SecondHit: section(time.Hour, 1000)}
	path := saved(t, o, func(g *Gate) { g.sight(secondHit, 1) })
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	o = kept(o, path)
	o.Restore = load(t, path)
	g := newGate(t, o)
	wantProblems(t, g, "open to others")
	if !g.sight(secondHit, 1).Admit {
		t.Error("got forgotten, want remembered")
	}
	if err := g.Save(time.Now()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("after a save: got mode %v, error %v, want 0600", info.Mode(), err)
	}
}

func TestAStateFromTheFutureIsTakenWithAWarning(t *testing.T) {
	o := Options{SecondHit: section(time.Hour, 1000)}
	path := saved(t, o, func(g *Gate) {
		g.sight(secondHit, 1)
		if err := g.Save(time.Now()); err != nil {
			t.Fatal(err)
		}
	})
	st, err := LoadState(path, time.Now().Add(-24*time.Hour)) // the clock was set back
	if err != nil {
		t.Fatal(err)
	}
	o = kept(o, path)
	o.Restore = st
	g, err := New(o, time.Now().Add(-24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	wantProblems(t, g, "after the present time")
	if !g.sight(secondHit, 1).Admit {
		t.Error("got forgotten, want remembered")
	}
	if got := g.Stats(time.Now().Add(-24 * time.Hour))[0].Window; got > time.Minute {
		t.Errorf("got a window of %v, want the age counted from now", got)
	}
}

// Time spent stopped ages the sightings as time spent running does.
func TestTimeStoppedAgesTheState(t *testing.T) {
	f := func(ran, stopped time.Duration, generations int, remembered bool, window time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := Options{SecondHit: section(30*time.Minute, 1000)}
			o.SecondHit.Generations = generations
			path := saved(t, o, func(g *Gate) {
				g.sight(secondHit, 1)
				g.filled(secondHit, 1, true)
				advance(ran)
			})
			advance(stopped)
			g := restored(t, o, path)
			defer g.Close()
			if got := g.Stats(time.Now())[0].Window; got != window {
				t.Errorf("ran %v, stopped %v: got a window of %v, want %v", ran, stopped, got, window)
			}
			if got := g.filled(secondHit, 1, false); got != remembered {
				t.Errorf("ran %v, stopped %v: got regret %v, want %v", ran, stopped, got, remembered)
			}
			if got := g.sight(secondHit, 1).Admit; got != remembered {
				t.Errorf("ran %v, stopped %v: got remembered %v, want %v", ran, stopped, got, remembered)
			}
		})
	}
	f(0, 0, 2, true, 0)
	f(10*time.Minute, 10*time.Minute, 2, true, 20*time.Minute)
	f(10*time.Minute, 30*time.Minute, 2, true, 40*time.Minute)
	f(0, 59*time.Minute, 2, true, 59*time.Minute)
	f(0, 61*time.Minute, 2, false, 31*time.Minute)
	f(40*time.Minute, 21*time.Minute, 2, false, 31*time.Minute)
	f(0, 61*time.Minute, 3, true, 61*time.Minute)
	f(0, 91*time.Minute, 3, false, 61*time.Minute)
	f(0, 1000*time.Hour+7*time.Minute, 2, false, 37*time.Minute)
}

// The rotation after a restart comes when it would have come without.
func TestRotationGoesOnInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{SecondHit: section(30*time.Minute, 1000)}
		path := saved(t, o, func(*Gate) { advance(10 * time.Minute) })
		advance(75 * time.Minute) // rotations were due at 30m and 60m
		g := restored(t, o, path)
		defer g.Close()
		f := func(after time.Duration, want int64) {
			t.Helper()
			advance(after)
			if got := rotations(g).Time; got != want {
				t.Errorf("got %d rotations, want %d", got, want)
			}
		}
		f(4*time.Minute, 2) // 89m
		f(2*time.Minute, 3) // 91m
		f(28*time.Minute, 3)
		f(2*time.Minute, 4)
	})
}

func TestByFillOnlyTimeStoppedDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{SecondHit: section(0, 1000)}
		path := saved(t, o, func(g *Gate) { g.sight(secondHit, 1) })
		advance(1000 * time.Hour)
		g := restored(t, o, path)
		defer g.Close()
		if !g.sight(secondHit, 1).Admit || rotations(g) != (bloom.Rotations{}) {
			t.Errorf("got %+v, want the key remembered and no rotation", rotations(g))
		}
	})
}

// A generation that was full when it was saved has no key left to signal it.
func TestAFullGenerationIsRotatedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{SecondHit: section(0, 100)}
		path := filepath.Join(t.TempDir(), "state")
		g, err := New(kept(o, path), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		g.StartSaving()
		g.seen.rotator.close() // nobody rotates any more
		for key := range uint64(150) {
			g.sight(secondHit, key)
		}
		g.Close()
		g = restored(t, o, path)
		defer g.Close()
		if got := rotations(g); got != (bloom.Rotations{Full: 1}) {
			t.Errorf("got %+v, want one rotation by fill", got)
		}
		if !g.sight(secondHit, 7).Admit {
			t.Error("got forgotten, want remembered")
		}
	})
}

// The sample begins to judge once everything the filter holds came after it.
func TestTheSampleJudgesARestoredFilterOnceItKnowsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{SecondHit: section(30*time.Minute, 1000)}
		path := saved(t, o, func(g *Gate) {
			for key := range uint64(100) {
				g.sightSampled(secondHit, key)
			}
		})
		g := restored(t, o, path)
		defer g.Close()
		f := func(after time.Duration, from uint64, unseen int64) {
			t.Helper()
			advance(after)
			for key := range uint64(100) {
				g.sightSampled(secondHit, from+key)
			}
			if m := g.Stats(time.Now())[0].Measured; m.Unseen != unseen || m.FalsePositives != 0 || m.FalseNegatives != 0 {
				t.Errorf("got %d unseen, %d false positives and %d false negatives, want %d, 0 and 0", m.Unseen, m.FalsePositives, m.FalseNegatives, unseen)
			}
		}
		f(0, 0, 0)
		f(31*time.Minute, 1000, 0)
		f(30*time.Minute, 2000, 100)
		f(0, 2000, 100)
	})
}

func TestAnUnusableStateIsRefused(t *testing.T) {
	path := saved(t, Options{SecondHit: section(time.Hour, 100)}, func(g *Gate) { g.sight(secondHit, 1) })
	f := func(name string, spoil func(path string) error, want error) {
		t.Helper()
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spoilt := filepath.Join(t.TempDir(), "spoilt")
		if err := os.WriteFile(spoilt, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(spoilt); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadState(spoilt, time.Now()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	f("cut short", func(path string) error { return os.Truncate(path, 1000) }, statefile.ErrTorn)
	f("another file", func(path string) error { return os.WriteFile(path, []byte("hello"), 0o600) }, statefile.ErrForeign)
	f("another content", func(path string) error { return statefile.Write(path, putBytes([]byte("hello"))) }, ErrState)
}

func TestAStateIsGivenToNewOrClosed(t *testing.T) {
	path := saved(t, Options{}, func(*Gate) {})
	st := load(t, path)
	st.Close()
	st.Close()
	var none *State
	none.Close()

	st = load(t, path)
	if _, err := New(Options{Restore: st}, time.Now()); err == nil || !strings.Contains(err.Error(), "restore: a saved state: must be a state with the seed in use") {
		t.Errorf("state to restore and none to keep: got %v, want an error", err)
	}
	if st.file != nil {
		t.Error("after New failed: want the state's file closed")
	}
}

func TestTableOfAState(t *testing.T) {
	path := saved(t, Options{SecondHit: section(0, 100), Counting: section(0, 100)}, func(*Gate) {})
	st := load(t, path)
	defer st.Close()
	got := map[string]bool{}
	for name, s := range st.sections {
		got[name] = s.length > 0
	}
	want := map[string]bool{fitSection: true}
	for _, name := range []string{SecondHitFilter, CountingFilter} {
		want[name], want[name+heldBackSuffix], want[name+storedSuffix] = true, true, true
	}
	if !cmp.Equal(got, want) {
		t.Errorf("sections: got %v, want %v", got, want)
	}
}
