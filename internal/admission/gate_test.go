package admission

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/http/reason"
)

var (
	secondHit = Rule{Policy: SecondHit}
	more4     = Rule{Policy: Counting, MoreThan: 4}
)

func section(every time.Duration, capacity int64) *FilterOptions {
	return &FilterOptions{
		Options:     bloom.Options{Generations: 2, Capacity: capacity, FalsePositiveRate: 1e-6},
		RotateEvery: every,
	}
}

func newGate(t testing.TB, o Options) *Gate {
	t.Helper()
	g, err := New(o, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// hash spreads a small number over 128 bits (the finaliser of SplitMix64).
func hash(key uint64) (hi, lo uint64) {
	mix := func(z uint64) uint64 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(key*2*0x9e3779b97f4a7c15 + 1), mix((key*2 + 1) * 0x9e3779b97f4a7c15)
}

func (g *Gate) sight(r Rule, key uint64) Verdict {
	hi, lo := hash(key)
	return g.Sight(r, hi, lo)
}

func TestVerdictsOfRepeatedSightings(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)})
	f := func(r Rule, key uint64, want ...Verdict) {
		t.Helper()
		for i, w := range want {
			if got := g.sight(r, key); got != w {
				t.Errorf("%v more than %d, sighting %d: got %+v, want %+v", r.Policy, r.MoreThan, i+1, got, w)
			}
		}
	}
	yes := Verdict{Admit: true}
	no := Verdict{Reason: reason.AdmissionDenies}
	few := func(n, needed int) Verdict {
		return Verdict{Reason: reason.TooFewSightings, Sightings: n, Needed: needed}
	}
	enough := func(n, needed int) Verdict { return Verdict{Admit: true, Sightings: n, Needed: needed} }

	f(Rule{Policy: Always}, 1, yes, yes)
	f(Rule{Policy: Never}, 1, no, no, no)
	f(secondHit, 2, Verdict{Reason: reason.FirstSighting}, yes, yes)
	f(Rule{Policy: Counting, MoreThan: 1}, 3, few(1, 2), enough(2, 2), enough(3, 2))
	f(more4, 4, few(1, 5), few(2, 5), few(3, 5), few(4, 5), enough(5, 5), enough(6, 5))
	// Two routes that count the same key share its sightings.
	f(Rule{Policy: Counting, MoreThan: 7}, 4, few(7, 8), enough(8, 8))
	for range 13 {
		g.sight(more4, 5)
	}
	f(Rule{Policy: Counting, MoreThan: 14}, 5, few(14, 15), enough(15, 15), enough(15, 15))
}

func TestKnowsAsksWithoutRecording(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)})
	f := func(r Rule, key uint64, want bool) {
		t.Helper()
		hi, lo := hash(key)
		for range 2 {
			if got := g.Knows(r, hi, lo); got != want {
				t.Errorf("%v more than %d: got %v, want %v", r.Policy, r.MoreThan, got, want)
			}
		}
	}
	f(Rule{Policy: Always}, 1, true)
	f(Rule{Policy: Never}, 1, false)
	f(secondHit, 1, false)
	g.sight(secondHit, 1)
	f(secondHit, 1, true)
	more1 := Rule{Policy: Counting, MoreThan: 1}
	g.sight(more1, 1)
	f(more1, 1, false)
	g.sight(more1, 1)
	f(more1, 1, true)
}

func TestASightingGoesToItsRulesFilterOnly(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000)})
	keys := func() (out []int64) {
		for _, s := range g.Stats(time.Now()) {
			out = append(out, s.Keys)
		}
		return out
	}
	f := func(r Rule, want ...int64) {
		t.Helper()
		g.sight(r, 1)
		if got := keys(); !cmp.Equal(got, want) {
			t.Errorf("keys by filter after a sighting for %v: got %v, want %v", r.Policy, got, want)
		}
	}
	f(Rule{Policy: Always}, 0, 0)
	f(Rule{Policy: Never}, 0, 0)
	f(secondHit, 1, 0)
	f(more4, 1, 1)
}

func TestSupportsNamesWhatIsMissing(t *testing.T) {
	f := func(o Options, r Rule, want string) {
		t.Helper()
		got := ""
		if err := newGate(t, o).Supports(r); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Supports(%+v): got error %q, want %q", r, got, want)
		}
	}
	none, both := Options{}, Options{SecondHit: section(0, 10), Counting: section(0, 10)}
	f(none, Rule{Policy: Always}, "")
	f(none, Rule{Policy: Never}, "")
	f(both, secondHit, "")
	f(both, Rule{Policy: Counting, MoreThan: 1}, "")
	f(both, Rule{Policy: Counting, MoreThan: 14}, "")
	f(none, secondHit, "policy: second-hit: must be a second_hit filter, which this gate was built without")
	f(none, more4, "policy: counting: must be a counting filter, which this gate was built without")
	f(both, Rule{Policy: Counting}, "more_than: 0: must be 1 to 14")
	f(both, Rule{Policy: Counting, MoreThan: 15}, "more_than: 15: must be 1 to 14")
	f(both, Rule{Policy: 9}, "policy: 9: must be a known policy")
}

func TestNewNamesEveryFault(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		g, err := New(o, time.Now())
		if err == nil {
			g.Close()
			t.Errorf("got a gate, want an error with %q", want)
			return
		}
		if _, ok := errors.AsType[*bloom.OptionError](err); !ok {
			t.Errorf("got %v, want an OptionError in it", err)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("got error %q, want it to contain %q", err, w)
			}
		}
	}
	f(Options{SecondHit: section(-time.Second, 10)}, "second_hit filter", "rotate_every: -1s: must be 0s (by fill only) or at least 1ms")
	f(Options{Counting: section(time.Microsecond, 10)}, "counting filter", "rotate_every: 1µs")
	f(Options{SecondHit: section(0, 0), Counting: section(-1, -2)},
		"second_hit filter", "capacity: 0", "counting filter", "capacity: -2", "rotate_every: -1ns")
	f(Options{Counting: &FilterOptions{}}, "generations: 0: must be 2 to 4", "capacity: 0", "false_positive_rate: 0")
}

func TestStatsAndBytesCoverTheFiltersThereAre(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		g := newGate(t, o)
		var names []string
		var bytes int64
		for _, s := range g.Stats(time.Now()) {
			names = append(names, s.Name)
			bytes += s.Bytes + s.Measured.Bytes + s.Regret.HeldBack.Bytes + s.Regret.Stored.Bytes
		}
		if !cmp.Equal(names, want) {
			t.Errorf("filters: got %v, want %v", names, want)
		}
		if got := g.Bytes(); got != bytes || (got > 0) != (len(want) > 0) {
			t.Errorf("bytes of %v: got %d, want the sum %d", want, got, bytes)
		}
	}
	f(Options{})
	f(Options{SecondHit: section(0, 1000)}, SecondHitFilter)
	f(Options{Counting: section(0, 1000)}, CountingFilter)
	f(Options{SecondHit: section(0, 1000), Counting: section(0, 1000)}, SecondHitFilter, CountingFilter)
}

func TestGateWorksAfterClose(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(time.Millisecond, 1000)})
	g.Close()
	g.Close()
	g.sight(secondHit, 1)
	if got := g.sight(secondHit, 1); !got.Admit {
		t.Errorf("second sighting after Close: got %+v, want admitted", got)
	}
}

// Many clients, one filter that is rotated all the time, one that is always
// overfull, and Stats in between.
func TestGateUnderLoad(t *testing.T) {
	const workers, keys = 3, 4000
	g := newGate(t, Options{SecondHit: section(time.Millisecond, 2*keys), Counting: section(0, 100)})
	var refused atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for key := range uint64(keys) {
				for range 3 {
					if v := g.sight(secondHit, key); v.Admit != (v.Reason == reason.None) {
						t.Errorf("got %+v, want a reason exactly where it is refused", v)
					} else if !v.Admit {
						refused.Add(1)
					}
				}
				if v := g.sight(more4, key); v.Sightings < 1 || v.Admit != (v.Sightings >= 5) {
					t.Errorf("got %+v, want at least this sighting counted and the verdict to follow", v)
				}
				if key%64 == 0 {
					g.Stats(time.Now())
				}
			}
		})
	}
	wg.Wait()
	if got := refused.Load(); got < keys {
		t.Errorf("got %d first sightings refused, want every key's", got)
	}
}

func TestSightDoesNotAllocate(t *testing.T) {
	g := newGate(t, Options{SecondHit: section(0, 1_000_000), Counting: section(0, 1_000_000)})
	key := uint64(0)
	var joined Verdict
	for _, r := range []Rule{{Policy: Always}, secondHit, more4, {Policy: Never}} {
		if n := testing.AllocsPerRun(100, func() {
			key++
			joined = r.Joined(g.sight(r, key))
			g.sight(r, key)
			g.sightSampled(r, key)
			g.sightSampled(r, key)
		}); n != 0 {
			t.Errorf("%v: got %v allocations, want 0 (last verdict %+v)", r.Policy, n, joined)
		}
	}
}
