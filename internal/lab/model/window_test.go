package model

import (
	"math"
	"testing"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

func TestWindowRotates(t *testing.T) {
	f := func(name string, change func(*Setting), accesses []trace.Access, want int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := exactSecondHit(1000)
			s.RotateRequests = 0
			change(&s)
			if got := play(t, s, make([]trace.Object, 10), accesses).Rotations; got != want {
				t.Errorf("rotations: got %d, want %d", got, want)
			}
		})
	}
	at := func(seconds ...int64) (out []trace.Access) {
		for i, s := range seconds {
			out = append(out, trace.Access{Object: uint32(i % 10), At: s * int64(time.Second)})
		}
		return out
	}
	f("every 3 requests", func(s *Setting) { s.RotateRequests = 3 }, at(0, 0, 0, 0, 0, 0, 0), 2)
	f("every 10 keys", func(s *Setting) { s.RotateKeys = 10 }, at(make([]int64, 25)...), 2)
	f("a key counts once", func(s *Setting) { s.RotateKeys = 2 }, make([]trace.Access, 20), 0)
	f("not before its time", func(s *Setting) { s.RotateEvery = 10 * time.Second }, at(100, 105, 109), 0)
	f("in time", func(s *Setting) { s.RotateEvery = 10 * time.Second }, at(100, 110, 119, 120), 2)
	f("for each idle period", func(s *Setting) { s.RotateEvery = 10 * time.Second }, at(100, 165, 169, 170), 7)
	f("the keys begin a new period", func(s *Setting) { s.RotateKeys, s.RotateEvery = 2, 10*time.Second }, at(100, 108, 117, 118), 2)
	f("nor by the times of a trace without any", func(s *Setting) { s.RotateEvery = time.Second }, at(0, 0, 0), 0)
	f("times that go backwards", func(s *Setting) { s.RotateEvery = 10 * time.Second }, at(100, 50, 105, 111), 1)
}

// A sighting outlives G-1 rotations and no more.
func TestExactForgetsAfterTheWindow(t *testing.T) {
	for _, generations := range []int{2, 3, 4} {
		for rotations, want := range map[int]int{0: 3, generations - 1: 3, generations: 1} {
			e := newExactCounts(make([]mark, 1), generations, 0)
			e.see(0)
			e.see(0)
			for range rotations {
				e.rotate()
			}
			if got := e.see(0); got != want {
				t.Errorf("%d generations, %d rotations: got %d sightings, want %d", generations, rotations, got, want)
			}
		}
	}
}

func TestExactStopsCountingWhereACounterDoes(t *testing.T) {
	e := newExactCounts(make([]mark, 1), 2, 0)
	for range 300 {
		e.see(0)
	}
	if got := e.see(0); got != counting.Max {
		t.Errorf("after 301 sightings: got %d, want %d", got, counting.Max)
	}
}

// The production filters must err as often as they foretell, and never on the
// other side.
func TestFilterErrsAsForetold(t *testing.T) {
	testkit.Plain(t, "one goroutine asks a filter")
	const objects, rate = 120_000, 0.02
	all := make([]trace.Object, objects)
	for i := range all {
		all[i].Size = 1
		all[i].Hi, all[i].Lo = hash(uint64(i))
	}
	for _, p := range []admission.Policy{admission.SecondHit, admission.Counting} {
		t.Run(p.String(), func(t *testing.T) {
			s := exactSecondHit(1000)
			s.Policy, s.MoreThan = p, 4
			s.RotateRequests, s.RotateKeys, s.Exact, s.FalsePositiveRate = 0, 12_000, false, rate
			r := newRun(t, s, all)
			for i := range uint32(objects) {
				r.Request(trace.Access{Object: i})
				r.Request(trace.Access{Object: i / 2})
			}
			c := r.Result()
			if c.FalsePositiveRatio == nil || c.ExpectedFalsePositiveRatio == nil || c.FilterBytes == 0 {
				t.Fatalf("got no measurement: %+v", c)
			}
			got, want := *c.FalsePositiveRatio, *c.ExpectedFalsePositiveRatio
			t.Logf("measured %.5f, foretold %.5f, %d rotations", got, want, c.Rotations)
			if math.Abs(got-want) > 0.1*want || want > rate || want < rate/4 {
				t.Errorf("false positives: got %.5f, want %.5f within a tenth, below %v", got, want, rate)
			}
			if c.FalseNegatives != 0 {
				t.Errorf("false negatives: got %d, want none", c.FalseNegatives)
			}
		})
	}
}

// A filter differs from the exact sets only by what its false positives admit.
func TestFilterStoresHardlyMoreThanExactSets(t *testing.T) {
	objects, accesses := madeUp(5, 20_000, 80_000)
	s := exactSecondHit(uniqueBytes(objects) / 20)
	s.RotateRequests, s.FalsePositiveRate = 4000, 0.01
	exact := play(t, s, objects, accesses)
	s.Exact = false
	got := play(t, s, objects, accesses)
	always := s
	always.Policy = admission.Always
	all := play(t, always, objects, accesses)
	more := float64(got.Writes - exact.Writes)
	if limit := 0.01 * float64(all.Writes); more < 0 || more > limit {
		t.Errorf("writes: got %d, want up to %.0f more than the %d of exact sets", got.Writes, limit, exact.Writes)
	}
	if d := math.Abs(got.HitRatio - exact.HitRatio); d > 0.003 {
		t.Errorf("hit ratio: got %.4f, want %.4f within 0.003", got.HitRatio, exact.HitRatio)
	}
	if exact.FalsePositiveRatio != nil || exact.FilterBytes != 0 {
		t.Errorf("exact sets: got false positives or a filter: %+v", exact)
	}
}
