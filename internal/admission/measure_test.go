package admission

import (
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

// fullOptions are of a filter that rotates by fill only, of a rate that gives a short test
// some hundred false positives.
func fullOptions(generations int) *FilterOptions {
	o := bloom.Options{Generations: generations, Capacity: 100_000, FalsePositiveRate: 0.1}
	if testing.Short() {
		o.Capacity, o.FalsePositiveRate = 50_000, 0.3
	}
	return &FilterOptions{Options: o}
}

// The live sample against the formula, on traffic that fills the filter again
// and again: 12 rotations, so some hundred false positives in the sample.
func TestMeasuredRatioIsTheExpectedOneAfterTwelveRotations(t *testing.T) {
	testkit.Plain(t, "millions of keys by one goroutine")
	f := func(name string, o Options, r Rule, first uint64) {
		t.Helper()
		inBubble(t, o, func(t *testing.T, g *Gate) {
			key := first
			for rotations(g).Full < 12 {
				for range 1000 { // the rotator can follow no faster
					g.sight(r, key)
					key++
				}
			}
			s := g.Stats(time.Now())[0]
			m := s.Measured
			t.Logf("%s: measured %.5f of %d unseen, expected %.5f now %.5f, %d false positives",
				name, m.Ratio, m.Unseen, m.Expected, s.FalsePositiveRatio, m.FalsePositives)
			if m.FalsePositives < 100 {
				t.Fatalf("%s: got %d false positives, want 100 at least for a verdict", name, m.FalsePositives)
			}
			if off := m.Ratio/m.Expected - 1; off < -0.2 || off > 0.2 {
				t.Errorf("%s: got a measured ratio of %.5f, want within 20%% of the expected %.5f", name, m.Ratio, m.Expected)
			}
			if m.FalseNegatives != 0 {
				t.Errorf("%s: got %d false negatives, want none", name, m.FalseNegatives)
			}
			if m.HorizonUnseen != m.Unseen || m.Share != 1.0/256 {
				t.Errorf("%s: got %d of %d unseen in the horizon, share %v, want all and 1/256", name, m.HorizonUnseen, m.Unseen, m.Share)
			}
			if want := int64(key-first) / 256; m.Unseen < want*9/10 || m.Unseen > want*11/10 {
				t.Errorf("%s: got %d sampled of %d keys, want about %d", name, m.Unseen, key-first, want)
			}
		})
	}
	f("second-hit", Options{SecondHit: fullOptions(2)}, secondHit, 1)
	if !testing.Short() {
		f("second-hit", Options{SecondHit: fullOptions(3)}, secondHit, 1)
		f("second-hit", Options{SecondHit: fullOptions(4)}, secondHit, 1)
	}
	f("counting", Options{Counting: fullOptions(2)}, more4, 1)
}

// With the default options, so that what an operator sees is what was tested.
func TestMeasuredRatioAtTheDefaultSize(t *testing.T) {
	testkit.Slow(t, "5 seconds")
	testkit.Plain(t, "millions of keys by one goroutine")
	o := &FilterOptions{Options: bloom.Options{Generations: 2, Capacity: 1_000_000, FalsePositiveRate: 0.01}}
	inBubble(t, Options{SecondHit: o}, func(t *testing.T, g *Gate) {
		for key := uint64(0); rotations(g).Full < 12; {
			for range 10_000 {
				g.sight(secondHit, key)
				key++
			}
		}
		m := g.Stats(time.Now())[0].Measured
		t.Logf("measured %.5f, expected %.5f, %d false positives of %d", m.Ratio, m.Expected, m.FalsePositives, m.Unseen)
		if off := m.Ratio/m.Expected - 1; off < -0.2 || off > 0.2 || m.FalseNegatives != 0 {
			t.Errorf("got %.5f and %d false negatives, want within 20%% of %.5f and none", m.Ratio, m.FalseNegatives, m.Expected)
		}
	})
}

func TestTheSampleForgetsWithTheWindow(t *testing.T) {
	o := Options{SecondHit: section(30*time.Minute, 1000), Counting: section(time.Hour, 1000)}
	inBubble(t, o, func(t *testing.T, g *Gate) {
		for key := range uint64(50) {
			g.sightSampled(secondHit, key)
			g.sightSampled(more4, key)
		}
		for _, want := range [][2]int{{50, 50}, {50, 50}, {0, 50}, {0, 50}, {0, 0}} {
			s := g.Stats(time.Now())
			if got := [2]int{s[0].Measured.Keys, s[1].Measured.Keys}; got != want {
				t.Errorf("keys kept by second-hit and counting: got %d, want %d", got, want)
			}
			advance(31 * time.Minute)
		}
	})
}

// Many goroutines, keys of the slice only, rotation all the time: a race in the
// filter, the ring or the sample would show as a false negative.
func TestNoFalseNegativeUnderLoad(t *testing.T) {
	f := func(generations int) {
		t.Helper()
		const workers, keys = 3, 600
		rotations := int64(testkit.Times(20, 6))
		size := &FilterOptions{
			Options:     bloom.Options{Generations: generations, Capacity: 2000, FalsePositiveRate: 0.001},
			RotateEvery: time.Millisecond,
		}
		g := newGate(t, Options{SecondHit: size, Counting: size})
		enough := func() bool {
			for _, s := range g.Stats(time.Now()) {
				if s.Rotations.Time+s.Rotations.Full < rotations {
					return false
				}
			}
			return true
		}
		var wg sync.WaitGroup
		for worker := range uint64(workers) {
			wg.Go(func() {
				for round := uint64(0); !enough(); round++ {
					for n := range uint64(keys) {
						key := round*keys/2 + (n*7+worker)%keys
						g.sightSampled(secondHit, key)
						g.sightSampled(more4, key)
					}
				}
			})
		}
		wg.Wait()
		for _, s := range g.Stats(time.Now()) {
			if s.Measured.FalseNegatives != 0 || s.Measured.Unseen == 0 {
				t.Errorf("%d generations, %s: got %d false negatives of %d keys unseen, want none of some",
					generations, s.Name, s.Measured.FalseNegatives, s.Measured.Unseen)
			}
		}
	}
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		f(generations)
	}
}
