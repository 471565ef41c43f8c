package admission

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
)

// inBubble runs f in virtual time with a gate that is closed at the end, so a
// goroutine left behind fails the test.
func inBubble(t *testing.T, o Options, f func(t *testing.T, g *Gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := New(o, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		f(t, g)
	})
}

// advance lets virtual time pass and everything due in it happen.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func rotations(g *Gate) bloom.Rotations {
	synctest.Wait()
	return g.Stats(time.Now())[0].Rotations
}

func TestRotationEvery30mRemembersAt31mAndForgetsAfter61m(t *testing.T) {
	inBubble(t, Options{SecondHit: section(30*time.Minute, 1000)}, func(t *testing.T, g *Gate) {
		g.sight(secondHit, 1)
		g.sight(secondHit, 2)
		g.sight(secondHit, 3)
		advance(31 * time.Minute)
		if !g.sight(secondHit, 1).Admit {
			t.Error("after 31m: got forgotten, want remembered")
		}
		advance(28 * time.Minute)
		if !g.sight(secondHit, 2).Admit {
			t.Error("after 59m, in the oldest generation still: got forgotten, want remembered")
		}
		advance(2 * time.Minute)
		if g.sight(secondHit, 3).Admit {
			t.Error("after 61m: got remembered, want forgotten")
		}
		if !g.sight(secondHit, 1).Admit {
			t.Error("sighted again 30m ago: got forgotten, want remembered")
		}
		s := g.Stats(time.Now())[0]
		if s.Window != 31*time.Minute || s.Rotations != (bloom.Rotations{Time: 2}) {
			t.Errorf("got a window of %v and rotations %+v, want 31m and 2 by time", s.Window, s.Rotations)
		}
	})
}

func TestCountsAreForgottenGenerationByGeneration(t *testing.T) {
	inBubble(t, Options{Counting: section(6*time.Hour, 1000)}, func(t *testing.T, g *Gate) {
		f := func(after time.Duration, want int) {
			t.Helper()
			advance(after)
			if got := g.sight(more4, 1).Sightings; got != want {
				t.Errorf("got %d sightings, want %d", got, want)
			}
		}
		f(0, 1)
		f(time.Hour, 2)
		f(6*time.Hour, 3) // 7h: the first two are one generation old
		f(6*time.Hour, 2) // 13h: they are gone
		f(13*time.Hour, 1)
	})
}

func TestFiltersRotateEachInTheirOwnPeriod(t *testing.T) {
	o := Options{SecondHit: section(30*time.Minute, 1000), Counting: section(6*time.Hour, 1000)}
	inBubble(t, o, func(t *testing.T, g *Gate) {
		advance(13 * time.Hour)
		var got []string
		for _, s := range g.Stats(time.Now()) {
			got = append(got, fmt.Sprint(s.Name, " ", s.Rotations.Time))
		}
		if want := []string{"second_hit 26", "counting 2"}; !cmp.Equal(got, want) {
			t.Errorf("rotations after 13h: got %v, want %v", got, want)
		}
	})
}

// fill records n new keys, starting with key.
func fill(g *Gate, key, n uint64) {
	for range n {
		g.sight(secondHit, key)
		key++
	}
	synctest.Wait()
}

func TestAFullFilterRotatesAtOnceAndStartsANewPeriod(t *testing.T) {
	var early []string
	o := Options{SecondHit: section(30*time.Minute, 100), OnEarlyRotation: func(filter string, age time.Duration) {
		early = append(early, fmt.Sprint(filter, " ", age))
	}}
	inBubble(t, o, func(t *testing.T, g *Gate) {
		advance(20 * time.Minute)
		fill(g, 0, 99)
		if got := rotations(g); got != (bloom.Rotations{}) {
			t.Errorf("one key below capacity: got %+v, want no rotation", got)
		}
		fill(g, 99, 1)
		if got := rotations(g); got != (bloom.Rotations{Full: 1}) {
			t.Errorf("at capacity: got %+v, want one rotation by fill", got)
		}
		if !g.sight(secondHit, 0).Admit {
			t.Error("key of the full generation: got forgotten, want remembered")
		}
		advance(29 * time.Minute) // 49m: the first period would have ended at 30m
		if got := rotations(g); got.Time != 0 {
			t.Errorf("29m after the rotation by fill: got %+v, want none by time", got)
		}
		advance(2 * time.Minute)
		if got := rotations(g); got != (bloom.Rotations{Time: 1, Full: 1}) {
			t.Errorf("31m after the rotation by fill: got %+v, want one by time", got)
		}
		fill(g, 1000, 100)
		advance(time.Minute)
	})
	if want := []string{"second_hit 20m0s", "second_hit 1m0s"}; !cmp.Equal(early, want) {
		t.Errorf("early rotations: got %v, want %v", early, want)
	}
}

func TestWithoutAPeriodOnlyFillRotatesAndIsNeverEarly(t *testing.T) {
	o := Options{SecondHit: section(0, 100), OnEarlyRotation: func(filter string, age time.Duration) {
		t.Errorf("early rotation of %s after %v: want none without a period", filter, age)
	}}
	inBubble(t, o, func(t *testing.T, g *Gate) {
		fill(g, 0, 50)
		advance(1000 * time.Hour)
		if got := rotations(g); got != (bloom.Rotations{}) {
			t.Errorf("after 1000h: got %+v, want no rotation", got)
		}
		if !g.sight(secondHit, 0).Admit {
			t.Error("after 1000h without a rotation: got forgotten, want remembered")
		}
		for n := range uint64(3) {
			fill(g, 1000*(n+1), 100)
		}
		if got := rotations(g); got != (bloom.Rotations{Full: 3}) {
			t.Errorf("after 350 keys: got %+v, want 3 rotations by fill", got)
		}
	})
}

func TestAnAbsentCallbackIsFine(t *testing.T) {
	inBubble(t, Options{SecondHit: section(time.Hour, 10)}, func(t *testing.T, g *Gate) {
		fill(g, 0, 10)
		if got := rotations(g); got != (bloom.Rotations{Full: 1}) {
			t.Errorf("got %+v, want one rotation by fill", got)
		}
	})
}

func TestASlowCallbackDelaysNoSightingAndIsAwaited(t *testing.T) {
	returned := false
	o := Options{SecondHit: section(time.Hour, 10), OnEarlyRotation: func(string, time.Duration) {
		time.Sleep(10 * time.Minute)
		returned = true
	}}
	inBubble(t, o, func(t *testing.T, g *Gate) {
		fill(g, 0, 10)
		before := time.Now()
		fill(g, 100, 25) // full again, while nobody rotates
		if waited := time.Since(before); waited != 0 {
			t.Errorf("sightings during the callback took %v, want none to wait", waited)
		}
		g.Close()
		if !returned {
			t.Error("Close returned before the callback did")
		}
	})
}

func TestCloseStopsTheRotation(t *testing.T) {
	inBubble(t, Options{SecondHit: section(time.Minute, 10)}, func(t *testing.T, g *Gate) {
		advance(90 * time.Second)
		g.Close()
		advance(time.Hour)
		if got := rotations(g); got != (bloom.Rotations{Time: 1}) {
			t.Errorf("an hour after Close: got %+v, want the one rotation from before", got)
		}
	})
}

// stale is a filter that signals although it is not full, as one does that was
// rotated between the signal and its receipt.
type stale struct {
	fullC   chan struct{}
	rotated []time.Duration
	begin   time.Time
	takes   time.Duration // how long a rotation runs
}

func (s *stale) Rotate(now time.Time, _ bloom.Cause) bool {
	s.rotated = append(s.rotated, now.Sub(s.begin))
	time.Sleep(s.takes)
	return true
}
func (*stale) Full() bool                  { return false }
func (s *stale) FullC() <-chan struct{}    { return s.fullC }
func (*stale) Stats(time.Time) bloom.Stats { return bloom.Stats{} }
func (*stale) Bytes() int64                { return 0 }

func TestAStaleSignalNeitherRotatesNorMovesThePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &stale{fullC: make(chan struct{}), begin: time.Now()}
		r := newRotator("test", f, time.Hour, nil, nil)
		go r.run(time.Now())
		advance(40 * time.Minute)
		f.fullC <- struct{}{}
		advance(21 * time.Minute)
		r.close()
		if want := []time.Duration{time.Hour}; !cmp.Equal(f.rotated, want) {
			t.Errorf("rotations: got at %v, want at %v", f.rotated, want)
		}
	})
}

// Periods run from the beginning of a rotation: clearing must not stretch the
// window beyond G periods.
func TestALongClearingDoesNotStretchThePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &stale{begin: time.Now(), takes: 10 * time.Minute}
		r := newRotator("test", f, time.Hour, nil, nil)
		go r.run(time.Now())
		advance(3*time.Hour + 30*time.Minute)
		r.close()
		if want := []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}; !cmp.Equal(f.rotated, want) {
			t.Errorf("rotations: got at %v, want at %v", f.rotated, want)
		}
	})
}

// broken panics at each rotation.
type broken struct{ stale }

func (b *broken) Rotate(now time.Time, cause bloom.Cause) bool {
	b.stale.Rotate(now, cause)
	panic("broken filter")
}

// TestAPanicInARotationEndedTheProcess: it is the end of that rotation alone.
func TestAPanicInARotationEndedTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := 0
		f := &broken{stale{begin: time.Now()}}
		r := newRotator("test", f, time.Hour, nil, func(step func()) {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			step()
		})
		go r.run(time.Now())
		advance(2*time.Hour + 30*time.Minute)
		r.close()
		if want := []time.Duration{time.Hour, 2 * time.Hour}; panics != 2 || !cmp.Equal(f.rotated, want) {
			t.Errorf("got %d panics and rotations at %v, want 2 and %v", panics, f.rotated, want)
		}
	})
}
