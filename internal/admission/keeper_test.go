package admission

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/bloom"
)

func wantState(t *testing.T, g *Gate, saves, failures int64, ago time.Duration) {
	t.Helper()
	synctest.Wait()
	s := g.StateStats()
	if s.Saves != saves || s.Failures != failures {
		t.Errorf("got %d saves and %d failures, want %d and %d", s.Saves, s.Failures, saves, failures)
	}
	if saves > 0 && (time.Since(s.Saved) != ago || s.Bytes < 1000) {
		t.Errorf("got saved %v ago, %d bytes, want %v and the filters", time.Since(s.Saved), s.Bytes, ago)
	}
}

// newSavingGate is newGate, begun to save.
func newSavingGate(t *testing.T, o Options) *Gate {
	t.Helper()
	g := newGate(t, o)
	g.StartSaving()
	return g
}

func TestSavesEveryFiveMinutesAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		g := newSavingGate(t, kept(Options{SecondHit: section(time.Hour, 1000)}, path))
		advance(4 * time.Minute)
		wantState(t, g, 0, 0, 0)
		advance(2 * time.Minute)
		wantState(t, g, 1, 0, time.Minute)
		advance(5 * time.Minute)
		wantState(t, g, 2, 0, time.Minute)
		g.sight(secondHit, 1)
		g.Close()
		wantState(t, g, 3, 0, 0)
		g.Close()
		advance(time.Hour)
		wantState(t, g, 3, 0, time.Hour)
		if g := restored(t, Options{SecondHit: section(time.Hour, 1000)}, path); !g.sight(secondHit, 1).Admit {
			t.Error("sighting before Close: got lost, want saved")
		}
	})
}

func TestEveryIsThePeriodOfSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := kept(Options{SecondHit: section(time.Hour, 1000)}, filepath.Join(t.TempDir(), "state"))
		o.State.Every = time.Minute
		g := newSavingGate(t, o)
		defer g.Close()
		advance(10*time.Minute + time.Second)
		wantState(t, g, 10, 0, time.Second)
	})
}

func TestASaveThatFailsIsReportedAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "later")
		o := kept(Options{SecondHit: section(time.Hour, 1000)}, filepath.Join(dir, "state"))
		var reported []error
		o.State.OnError = func(err error) { reported = append(reported, err) }
		g := newSavingGate(t, o)
		advance(11 * time.Minute)
		wantState(t, g, 0, 2, 0)
		if len(reported) != 2 || !errors.Is(reported[0], fs.ErrNotExist) || !strings.Contains(reported[0].Error(), "save the sightings") {
			t.Errorf("got %v reported, want fs.ErrNotExist twice", reported)
		}
		if err := g.Save(time.Now()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Save: got %v, want fs.ErrNotExist", err)
		}
		if len(reported) != 2 {
			t.Errorf("an error that Save returned: got it reported as well")
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		advance(5 * time.Minute)
		wantState(t, g, 1, 3, time.Minute)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		g.Close()
		wantState(t, g, 1, 4, time.Minute)
		if len(reported) != 3 {
			t.Errorf("got %d errors reported, want that of Close too", len(reported))
		}
	})
}

func TestAnAbsentOnErrorIsFine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSavingGate(t, kept(Options{}, filepath.Join(t.TempDir(), "missing", "state")))
		advance(6 * time.Minute)
		g.Close()
		wantState(t, g, 0, 2, 0)
	})
}

// A start that fails late, on a port in use for instance, has restored and seen
// next to nothing: saving that would forget what the last run knew.
func TestAStartThatFailsLeavesTheSavedSightings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{SecondHit: section(time.Hour, 1000)}
		path := saved(t, o, func(g *Gate) { g.sight(secondHit, 1) })
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		failed := newGate(t, kept(o, path)) // without Restore, as under another configuration
		advance(11 * time.Minute)
		failed.Close()
		wantState(t, failed, 0, 0, 0)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the file: got %d bytes and error %v, want the %d bytes of the run before", len(after), err, len(before))
		}
		if g := restored(t, o, path); !g.sight(secondHit, 1).Admit {
			t.Error("sighting of the run before: got lost, want kept")
		}
	})
}

func TestStartSavingBeginsOnceAndNotAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		g := newSavingGate(t, kept(Options{SecondHit: section(time.Hour, 1000)}, path))
		g.StartSaving()
		advance(5*time.Minute + time.Second)
		wantState(t, g, 1, 0, time.Second)
		g.Close()
		g.StartSaving()
		advance(time.Hour)
		wantState(t, g, 2, 0, time.Hour)

		late := newGate(t, kept(Options{SecondHit: section(time.Hour, 1000)}, path))
		late.Close()
		late.StartSaving()
		advance(time.Hour)
		wantState(t, late, 0, 0, 0)
	})
}

// What Save is asked for it does, also before.
func TestSaveNeedsNoStartSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, kept(Options{SecondHit: section(time.Hour, 1000)}, filepath.Join(t.TempDir(), "state")))
		if err := g.Save(time.Now()); err != nil {
			t.Errorf("Save: got %v, want no error", err)
		}
		wantState(t, g, 1, 0, 0)
	})
}

func TestWithoutAStateNothingIsSaved(t *testing.T) {
	g := newSavingGate(t, Options{SecondHit: section(time.Hour, 1000)})
	if err := g.Save(time.Now()); err != nil {
		t.Errorf("Save: got %v, want nothing to do", err)
	}
	if got := g.StateStats(); got != (StateStats{}) {
		t.Errorf("got %+v, want zeros", got)
	}
}

func TestStateOptionsThatCannotWorkAreNamed(t *testing.T) {
	f := func(s StateOptions, want string) {
		t.Helper()
		g, err := New(Options{State: &s}, time.Now())
		if err == nil {
			g.Close()
			t.Errorf("%+v: got a gate, want an error", s)
			return
		}
		if _, ok := errors.AsType[*bloom.OptionError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an OptionError with %q", s, err, want)
		}
	}
	f(StateOptions{}, `state: "": must be the path of a file`)
	f(StateOptions{Path: "x", Every: -time.Second}, "save_every: -1s: must be 0s (5m) or more")
}
