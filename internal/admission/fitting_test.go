package admission

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/admission/fit"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

// bodyOf makes a tier of n times tierUnit bytes hold n objects.
const (
	tierUnit = 10_000
	body     = tierUnit - fit.EntryBytes
)

func fittedSection(every time.Duration) *FilterOptions {
	return &FilterOptions{Options: bloom.Options{Generations: 2, FalsePositiveRate: 1e-6}, Fitted: true, RotateEvery: every}
}

func fittedOptions(objects int64) Options {
	return Options{SecondHit: fittedSection(0), Counting: fittedSection(0), MoreThan: 4, TierBytes: objects * tierUnit}
}

// learn has the gate see responses of one size.
func (g *Gate) learn(n int, body int64) {
	for range n {
		g.Filled(Rule{Policy: Always}, 0, 0, body, false)
	}
}

func (g *Gate) rotations(filter string) bloom.Rotations {
	synctest.Wait()
	for _, s := range g.Stats(time.Now()) {
		if s.Name == filter {
			return s.Rotations
		}
	}
	return bloom.Rotations{}
}

// A generation ends with the sighting that makes them a multiple of C, if there are keys
// enough among them, and no sooner.
func TestAGenerationEndsAfterAMultipleOfTheObjectsHeld(t *testing.T) {
	f := func(r Rule, filter string, l fit.Length) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, fittedOptions(1000))
			defer g.Close()
			want := l.PerObject * 1000
			keys := int64(l.Distinct*float64(want)) + 1
			g.learn(100, body)
			if got := g.Objects(); got != 1000 {
				t.Fatalf("got C %d, want 1000", got)
			}
			for _, turn := range []int64{1, 2} {
				for n := range want {
					if got := g.rotations(filter); got.Fitted != turn-1 {
						t.Fatalf("%s: got %+v after %d sightings of generation %d", filter, got, n, turn)
					}
					g.sight(r, uint64(n%keys))
				}
				if got := g.rotations(filter); got != (bloom.Rotations{Fitted: turn}) {
					t.Errorf("%s: got %+v after %d sightings, want a rotation", filter, got, want)
				}
			}
		})
	}
	f(secondHit, SecondHitFilter, fit.SecondHit())
	f(more4, CountingFilter, fit.Counting(4))
}

// A rule that counts further lengthens the window of the filter, as at a reload, and one that counts less far shortens
// it. What was counted before stays counted.
func TestAnotherMoreThanChangesTheLengthAndKeepsTheSightings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fittedOptions(1000)
		o.MoreThan = 1
		g := newGate(t, o)
		defer g.Close()
		g.learn(100, body)
		g.counted.Rotate(time.Now(), bloom.CauseTime) // so that a generation has room for 1,000 objects
		const keys = 1700
		length := func(moreThan int) uint64 { return uint64(fit.Counting(moreThan).Sightings(1000)) }
		for n := range uint64(4) {
			g.sight(more4, 1<<40)
			g.sight(more4, n)
		}
		most := g.MostBytes()
		g.SetMoreThan(4)
		if got := g.MostBytes(); got < 2*most {
			t.Errorf("got at most %d bytes for more than 4, want far above the %d of more than 1", got, most)
		}
		for n := uint64(8); n < length(4)-1; n++ {
			if g.sight(more4, n%keys); n%100 == 0 && g.rotations(CountingFilter).Fitted != 0 {
				t.Fatalf("got a rotation after %d sightings, want none before %d", n+1, length(4))
			}
		}
		if !g.sight(more4, 1<<40).Admit {
			t.Error("got the sightings of before lost, want the fifth one admitted")
		}
		if got := g.rotations(CountingFilter); got.Fitted != 1 {
			t.Errorf("got %+v after %d sightings, want a rotation", got, length(4))
		}
		for n := range length(2) - 1 {
			g.sight(more4, 1<<50|n%keys)
		}
		if got := g.rotations(CountingFilter); got.Fitted != 1 {
			t.Errorf("got %+v, want the longer generation to go on", got)
		}
		g.SetMoreThan(1)
		if got := g.rotations(CountingFilter); got.Fitted != 2 {
			t.Errorf("got %+v with a length that is reached already, want a rotation", got)
		}
	})
}

// The other filter, and a fixed window, have no such length.
func TestMoreThanIsForAFittedCountingFilterAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fixed := newGate(t, Options{Counting: section(0, 1000)})
		defer fixed.Close()
		without := newGate(t, Options{SecondHit: fittedSection(0), TierBytes: 1000 * tierUnit})
		defer without.Close()
		for _, g := range []*Gate{fixed, without} {
			before := g.Stats(time.Now())[0].Limit
			if g.SetMoreThan(14); g.Stats(time.Now())[0].Limit != before {
				t.Errorf("got a limit of %d, want %d", g.Stats(time.Now())[0].Limit, before)
			}
		}
	})
}

// Hits on one stored object ended generation after generation, so that nothing else was
// remembered until its second request.
func TestRequestsForOneKeyDidNotLetTheOthersBeRemembered(t *testing.T) {
	f := func(r Rule, filter string, l fit.Length) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, fittedOptions(1000))
			defer g.Close()
			g.learn(100, body)
			length := l.Sightings(1000)
			least := int64(l.Distinct * float64(length))
			for n := range 20 * length {
				g.sight(r, 0)
				if n%20 == 0 && n/20 < least-2 {
					g.sight(r, uint64(n)+1)
				}
			}
			if got := g.rotations(filter); got.Fitted != 0 {
				t.Fatalf("%s: got %+v after %d sightings of %d keys, want no rotation below %d keys", filter, got, 20*length, least, least)
			}
			g.sight(r, 1<<40)
			for n := int64(0); g.rotations(filter).Fitted == 0; n++ {
				if g.sight(r, 0); n > length/16 {
					t.Fatalf("%s: got no rotation %d sightings after key %d", filter, n, least)
				}
			}
		})
	}
	f(secondHit, SecondHitFilter, fit.SecondHit())
	f(more4, CountingFilter, fit.Counting(4))
}

// A small cache has windows of a least length: with fewer sightings nothing comes back.
func TestASmallCacheHasAFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, fittedOptions(3))
		defer g.Close()
		g.learn(100, body)
		least := int(fit.SecondHit().Least)
		for n := range least {
			if got := g.rotations(SecondHitFilter); got.Fitted != 0 {
				t.Fatalf("got a rotation after %d sightings, want none before %d", n, least)
			}
			g.sight(secondHit, uint64(n))
		}
		if got := g.rotations(SecondHitFilter); got.Fitted != 1 {
			t.Errorf("got %+v after %d sightings, want a rotation", got, least)
		}
	})
}

// Larger objects are fewer, so a window that was long enough is too long at once; the
// next generation is made for what is known then.
func TestTheWindowFollowsTheSizesOfWhatIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, fittedOptions(10_000))
		defer g.Close()
		g.learn(100, body)
		for n := range uint64(10_000) {
			g.sight(secondHit, n)
		}
		if got := g.rotations(SecondHitFilter); got.Fitted != 0 {
			t.Fatalf("got %+v after 10,000 sightings of 30,000, want none", got)
		}
		g.learn(5000, 10*tierUnit-fit.EntryBytes) // C is a tenth, less what is left of the old mean
		if got := g.rotations(SecondHitFilter); got.Fitted != 1 {
			t.Errorf("got %+v when the window was to be 3,000 sightings, want it ended", got)
		}
		s := g.Stats(time.Now())[0]
		if s.Objects < 990 || s.Objects > 1110 || s.Limit != 3*s.Objects {
			t.Errorf("got C %d and a limit of %d, want about 1000 and 3 times that", s.Objects, s.Limit)
		}
		if s.Generations[0].Keys != 0 || s.Room > 2*30_000 {
			t.Errorf("got %d keys and room for %d in the new generation", s.Generations[0].Keys, s.Room)
		}
	})
}

func TestRotateEveryBoundsAFittedWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fittedOptions(1000)
		o.SecondHit, o.Counting = fittedSection(time.Minute), nil
		o.OnEarlyRotation = func(string, time.Duration) {
			t.Error("got a warning of a window that is too short, want none: it fits")
		}
		g := newGate(t, o)
		defer g.Close()
		advance(90 * time.Second)
		if got := g.rotations(SecondHitFilter); got != (bloom.Rotations{Time: 1}) {
			t.Errorf("got %+v after 90 s, want one by time", got)
		}
		g.learn(100, body)
		for n := range uint64(3000) {
			g.sight(secondHit, n)
		}
		if got := g.rotations(SecondHitFilter); got != (bloom.Rotations{Time: 1, Fitted: 1}) {
			t.Errorf("got %+v after 3000 sightings, want one more that is fitted", got)
		}
	})
}

// Without rotate_every no clock has a say, wherever it jumps to.
func TestAFittedWindowKnowsNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, fittedOptions(1000))
		defer g.Close()
		g.sight(secondHit, 1)
		advance(1000 * time.Hour)
		if !g.sight(secondHit, 1).Admit || g.rotations(SecondHitFilter) != (bloom.Rotations{}) {
			t.Error("after 1000 quiet hours: got the sighting forgotten, want it kept")
		}
	})
}

// The first C is told when there is enough to go by, and then every move of a quarter.
func TestOnFitIsToldOfMovesOfAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		o := fittedOptions(1000)
		o.Counting = nil
		o.OnFit = func(filter string, objects, sightings int64) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(filter, " ", objects, " ", sightings))
		}
		g := newGate(t, o)
		defer g.Close()
		want := func(when string, lines ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(lines, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		g.learn(63, body)
		want("63 responses")
		g.learn(1, body)
		want("64 responses", "second_hit 1000 3000")
		g.learn(1000, body*11/10)
		want("a tenth more", "second_hit 1000 3000")
		for range 2000 {
			g.learn(1, body*3/2)
			synctest.Wait()
		}
		if mu.Lock(); len(got) != 2 || !strings.HasPrefix(got[1], "second_hit 7") {
			t.Errorf("half as much again: got %v, want one more line of a little less than 750 objects", got)
		}
		mu.Unlock()
	})
}

// A cache of another size after a restart is followed at once, for the sizes of the
// responses are kept, and the sightings are still known.
func TestARestartWithAnotherCacheSizeIsFollowedWithinOneRotation(t *testing.T) {
	testkit.Plain(t, "100,000 sightings of one goroutine")
	f := func(before, after int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			path := saved(t, fittedOptions(before), func(g *Gate) {
				g.learn(100, body)
				for n := range uint64(500) {
					g.sight(secondHit, n)
				}
			})
			g := restored(t, fittedOptions(after), path)
			defer g.Close()
			wantProblems(t, g)
			if got := g.Objects(); got != after {
				t.Errorf("%d to %d: got C %d at once", before, after, got)
			}
			for n := range uint64(100) {
				if !g.sight(secondHit, n).Admit {
					t.Fatalf("%d to %d: got sighting %d lost, want it kept", before, after, n)
				}
			}
			for n := uint64(1000); g.rotations(SecondHitFilter).Fitted < 1; n++ {
				if g.sight(secondHit, n); n > uint64(3*after)+1000 {
					t.Fatalf("%d to %d: got no rotation after %d more sightings", before, after, n-1000)
				}
			}
			if s := g.Stats(time.Now())[0]; s.Limit != 3*after || s.Room < s.Limit || s.Room > 2*s.Limit {
				t.Errorf("%d to %d: got a limit of %d and room for %d, want %d", before, after, s.Limit, s.Room, 3*after)
			}
		})
	}
	f(1000, 1000)
	f(1000, 20_000)
	f(20_000, 1000)
}

// What the newest generation has had of its sightings counts after a restart.
func TestSightingsOfTheNewestGenerationAreCountedOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := saved(t, fittedOptions(1000), func(g *Gate) {
			g.learn(100, body)
			for n := range uint64(2999) {
				g.sight(secondHit, n%1500)
			}
		})
		g := restored(t, fittedOptions(1000), path)
		defer g.Close()
		if got := g.rotations(SecondHitFilter); got.Fitted != 0 {
			t.Fatalf("got %+v at the start, want none", got)
		}
		g.sight(secondHit, 1)
		if got := g.rotations(SecondHitFilter); got.Fitted != 1 {
			t.Errorf("got %+v with the 3000th sighting, want a rotation", got)
		}
	})
}

// A fixed filter becomes a fitted one, and what it knows stays.
func TestAFixedWindowBecomesAFittedOne(t *testing.T) {
	o := Options{SecondHit: section(0, 50_000)}
	o.SecondHit.FalsePositiveRate = 1e-6
	path := saved(t, o, func(g *Gate) { g.sight(secondHit, 1) })
	fitted := fittedOptions(100)
	g := restored(t, fitted, path)
	wantProblems(t, g)
	if !g.sight(secondHit, 1).Admit {
		t.Error("fixed to fitted: got the sighting lost, want it kept")
	}
}

func TestAFittedFilterNeedsATier(t *testing.T) {
	o := fittedOptions(0)
	if _, err := New(o, time.Now()); err == nil || !strings.Contains(err.Error(), "tier: 0 bytes: must be the size") {
		t.Errorf("got %v, want an error for the tier", err)
	}
}

// However small the objects are, the filters stay within what MostBytes says.
func TestMostBytesBoundsWhatAFittedGateTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fittedOptions(2000)
		o.SecondHit.FalsePositiveRate, o.Counting.FalsePositiveRate = 0.01, 0.01
		g := newGate(t, o)
		defer g.Close()
		most, r := g.MostBytes(), rand.New(rand.NewPCG(3, 4))
		if share := float64(most) / (2000 * tierUnit); share > 0.4 {
			t.Errorf("got %.3f of the tier at the most, want 0.4 for both filters and empty objects", share)
		}
		o.Counting = nil
		if share := float64(newGate(t, o).MostBytes()) / (2000 * tierUnit); share > 0.06 {
			t.Errorf("got %.3f of the tier at the most, want 0.06 for second-hit and empty objects", share)
		}
		seen := int64(0)
		for range 30 {
			g.learn(3000, int64(r.IntN(3)*r.IntN(1000)))
			for _, m := range g.memories {
				m.Rotate(time.Now(), bloom.CauseFitted)
				m.Rotate(time.Now(), bloom.CauseFitted)
			}
			seen = max(seen, g.Bytes())
			if g.Bytes() > most {
				t.Fatalf("got %d bytes, want at most %d", g.Bytes(), most)
			}
		}
		if seen < most/2 {
			t.Errorf("got at most %d bytes, want a test that comes near %d", seen, most)
		}
	})
}

func TestSightingsBesideRotationsThatFit(t *testing.T) {
	g := newGate(t, fittedOptions(100))
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() {
			for n := range uint64(5000) {
				g.sight(secondHit, worker<<32|n)
				g.sight(more4, worker<<32|n)
				g.Filled(secondHit, n, n, int64(n%50)*1000, n%2 == 0)
				if n%500 == 0 {
					g.SetMoreThan(int(worker) + 1)
				}
			}
		})
	}
	wg.Wait()
	g.Close()
	for _, s := range g.Stats(time.Now()) {
		if s.Rotations.Fitted == 0 || s.Measured.FalseNegatives > 0 {
			t.Errorf("%s: got %+v and %d false negatives, want rotations and none", s.Name, s.Rotations, s.Measured.FalseNegatives)
		}
	}
}

// A sighting that was on its way when the generation that it ended was rotated ended the next
// one as well, at its beginning.
func TestALateSightingEndedTheGenerationAfterItsOwn(t *testing.T) {
	g := newGate(t, fittedOptions(1))
	defer g.Close()
	f := g.seen.fitting
	f.beginGeneration()
	f.end() // the generation has seen the end of the one before
	if f.over() {
		t.Error("got a generation without sightings that is over")
	}
}

// A filter that was full of keys with the last sighting of a generation was now and then
// rotated before that sighting was counted: it counted in the generation that followed,
// which ended one sighting early.
func TestTheSightingThatFillsAFilterCountsInItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, fittedOptions(1)) // room for the least number of sightings, 200
		defer g.Close()
		f := g.seen.fitting
		for key := range uint64(199) {
			g.sight(secondHit, key)
		}
		hi, lo := hash(199)
		number := f.counted() // Sight does the same, but slowly
		g.record(secondHit.Policy, hi, lo)
		if got := g.rotations(SecondHitFilter); got.Fitted != 1 { // it lets the rotator go on
			t.Fatalf("got %+v, want the full filter rotated", got)
		}
		f.sighted(number)
		if got := f.seen(); got != 0 {
			t.Errorf("the next generation begins with %d sightings, want 0", got)
		}
		for key := range uint64(199) {
			g.sight(secondHit, 1000+key)
		}
		if got := g.rotations(SecondHitFilter); got.Fitted != 1 {
			t.Errorf("got %+v after 199 sightings of the next generation, want no rotation", got)
		}
	})
}
