package shadow

import (
	"runtime"
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/test/testkit"
)

func TestRequestDoesNotAllocate(t *testing.T) {
	testkit.Plain(t, "it counts allocations")
	o := options(1000, always, secondHit, moreThan2)
	o.Live = []admission.Rule{secondHit}
	o.SecondHit.RotateEvery = 0 // a rotation makes a new list of generations
	s := newShadow(t, o)
	key := uint64(0)
	if got := testing.AllocsPerRun(5000, func() {
		hi, lo := hash(key % 3000)
		s.Request(secondHit, hi, lo, 5000, true, begin)
		key++
	}); got != 0 {
		t.Errorf("got %v allocations a request, want 0", got)
	}
}

// heapInUse returns the bytes of the heap that something refers to. What a pool held is freed by the second collection.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The package comment states what a policy takes, and Bytes tells.
func TestMemoryIsAsStated(t *testing.T) {
	testkit.Plain(t, "it measures the heap")
	f := func(capacity int64, most int64) {
		t.Helper()
		o := options(100_000, always, secondHit)
		o.CapacityBytes, o.MaxObjectBytes, o.Share = capacity, 8<<20, 0
		before := heapInUse()
		s := newShadow(t, o)
		got := heapInUse() - before
		runtime.KeepAlive(s)
		if got > most {
			t.Errorf("%d bytes of capacity: got %d bytes, want at most %d", capacity, got, most)
		}
		if told := s.Bytes(); told > got*21/20 || told < got*9/10 {
			t.Errorf("%d bytes of capacity: told %d bytes, want about the %d taken", capacity, told, got)
		}
	}
	f(256<<20, 2*1600<<10)
	f(1<<30, 2*1600<<10)
	f(1<<40, 2*3<<20)
}

// BenchmarkRequest is one request of the slice for three policies.
func BenchmarkRequest(b *testing.B) { benchmarkRequest(b) }

// BenchmarkRequestWithLive is BenchmarkRequest with the policy of the live routes besides.
func BenchmarkRequestWithLive(b *testing.B) { benchmarkRequest(b, secondHit) }

func benchmarkRequest(b *testing.B, live ...admission.Rule) {
	b.Helper()
	o := options(100_000, always, secondHit, moreThan2)
	o.CapacityBytes, o.MaxObjectBytes, o.Live = 64<<20, 8<<20, live
	s := newShadow(b, o)
	order := zipf(1, 100_000, 1<<18, 0.9)
	n := 0
	for b.Loop() {
		hi, lo := hash(uint64(order[n&(1<<18-1)]))
		s.Request(secondHit, hi, lo, 8000, true, begin)
		n++
	}
}

// BenchmarkOthers is what the requests of other keys pay.
func BenchmarkOthers(b *testing.B) {
	o := options(1000, always)
	o.Share = 1.0 / 64
	s := newShadow(b, o)
	b.RunParallel(func(pb *testing.PB) {
		for key := uint64(0); pb.Next(); key++ {
			hi, lo := hash(key)
			s.Request(unused, hi, lo|1<<firstBit, 8000, true, begin)
		}
	})
}
