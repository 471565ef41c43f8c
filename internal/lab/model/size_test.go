package model

import (
	"runtime"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees what pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// However large the cache and its window, a model takes memory for the objects
// that there are; and it says before how much.
func TestMemoryGrowsWithTheObjectsNotWithTheCapacity(t *testing.T) {
	testkit.Plain(t, "it measures the heap")
	objects, accesses := madeUp(1, 2000, 4000)
	f := func(name string, change func(*Setting)) {
		t.Helper()
		s := exactSecondHit(1 << 42)
		s.RotateRequests, s.Exact, s.FalsePositiveRate = 0, false, 0.01
		change(&s)
		before := heap()
		r := newRun(t, s, objects)
		r.Requests(accesses)
		took := heap() - before
		foretold := s.Memory(len(objects), uniqueBytes(objects))
		if took > foretold+256<<10 || foretold > 32<<20 {
			t.Errorf("%s: got %d bytes, %d foretold, want no more than these, and them below 32 MiB", name, took, foretold)
		}
		runtime.KeepAlive(r)
	}
	f("keys", func(s *Setting) { s.RotateKeys = 1e9 })
	f("keys, counting", func(s *Setting) { s.Policy, s.MoreThan, s.RotateKeys = admission.Counting, 4, 1e9 })
	f("requests", func(s *Setting) { s.RotateRequests = 1e9 })
	f("sets", func(s *Setting) { s.Exact, s.RotateKeys = true, 1e9 })
	f("sets that count", func(s *Setting) {
		s.Policy, s.MoreThan, s.Exact, s.RotateKeys = admission.Counting, 4, true, 1e9
	})
	f("stage", func(s *Setting) { s.RotateKeys, s.StageBytes = 1e9, 1<<41 })
	f("gdsf", func(s *Setting) { s.RotateKeys, s.Eviction = 1e9, GDSF })
	f("size-aware", func(s *Setting) { s.RotateKeys, s.Eviction = 1e9, SizeAware })
	f("ristretto", func(s *Setting) { s.RotateKeys, s.Eviction = 1e9, Ristretto })
	f("ristretto with a stage", func(s *Setting) { s.RotateKeys, s.Eviction, s.StageBytes = 1e9, Ristretto, 1<<41 })
}

// A tier that is bounded by what the objects take holds all of them, the largest
// included, as the one asked for would.
func TestTierOfAnyCapacityHoldsWhatFitsIt(t *testing.T) {
	objects := make([]trace.Object, 40)
	for i := range objects {
		objects[i].Size = int64(i) << 18 // up to 10 MiB
		objects[i].Hi, objects[i].Lo = hash(uint64(i))
	}
	for _, stage := range []int64{0, 1 << 40} {
		s := exactSecondHit(1 << 42)
		s.Policy, s.Eviction, s.StageBytes = admission.Always, Ristretto, stage
		r := newRun(t, s, objects)
		for range 2 {
			for i := range objects {
				r.Request(trace.Access{Object: uint32(i)})
			}
		}
		if got := r.Result(); got.Writes != 40 || got.Hits != 40 {
			t.Errorf("stage %d: got %d writes and %d hits, want 40 of both", stage, got.Writes, got.Hits)
		}
	}
}

func TestFilterBytesAreThoseOfTheFilter(t *testing.T) {
	for _, p := range []admission.Policy{admission.SecondHit, admission.Counting} {
		s := exactSecondHit(1000)
		s.Policy, s.MoreThan = p, 4
		s.RotateRequests, s.RotateKeys, s.Exact, s.FalsePositiveRate, s.Generations = 0, 5000, false, 0.02, 3
		r := newRun(t, s, make([]trace.Object, 10_000))
		if got, want := s.FilterBytes(5000), r.Result().FilterBytes; got != want {
			t.Errorf("%v: got %d, want the %d of the filter", p, got, want)
		}
		s.FalsePositiveRate = 1e-300
		if got := s.FilterBytes(5000); got != NoFilter {
			t.Errorf("%v, a rate that no filter keeps: got %d, want no number", p, got)
		}
	}
}
