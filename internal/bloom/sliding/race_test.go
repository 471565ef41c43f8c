package sliding

import (
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
)

// Workers sight keys of their own and ask for them at once, and every thousandth
// sighting one of them rotates while the others go on. begun counts the
// rotations that may have begun, so of two readings the difference plus one
// bounds those that did so in between. A sighting made while the first of them
// clears survives G-2 more.
func TestNoSightingIsLostWhileTheWindowRotates(t *testing.T) {
	const generations, workers, perWorker, perRotation = 4, 3, 30_000, 1000
	f := newFilter(t, generations, 2*perRotation, 1e-9)
	var begun, checked, sighted atomic.Int64
	check := func(key uint64) bool {
		before := begun.Load()
		f.seen(key)
		found := f.has(key) && f.seen(key)
		if rotations := begun.Load() - before + 1; rotations >= generations-1 {
			return true // beyond the guarantee
		}
		checked.Add(1)
		return found
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range perWorker {
				key := uint64(w*perWorker + i)
				if !check(key) {
					t.Errorf("key %d: got forgotten within the guarantee, want seen", key)
					return
				}
				if sighted.Add(1)%perRotation == 0 {
					begun.Add(1)
					f.Rotate(start, bloom.CauseTime)
				}
			}
		})
	}
	wg.Wait()
	if got, want := checked.Load(), int64(workers*perWorker/2); got < want {
		t.Errorf("got %d sightings checked, want at least %d", got, want)
	}
}

func TestConcurrentRotationsLeaveAWholeWindow(t *testing.T) {
	const generations = 3
	f := newFilter(t, generations, 1000, 0.01)
	var wg sync.WaitGroup
	var done atomic.Int64
	for w := range 4 {
		wg.Go(func() {
			for i := range 200 {
				f.seen(uint64(w*1000 + i))
				if f.Rotate(start, bloom.CauseTime) {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	s := f.Stats(start)
	if len(s.Generations) != generations {
		t.Errorf("generations: got %d, want %d", len(s.Generations), generations)
	}
	if s.Rotations.Time != done.Load() {
		t.Errorf("rotations: got %d counted, want the %d that were done", s.Rotations.Time, done.Load())
	}
	for range generations { // nobody works now: everything must go, and the counters with it
		f.Rotate(start, bloom.CauseTime)
	}
	s = f.Stats(start)
	for i, g := range s.Generations {
		if g.FillRatio != 0 || g.Keys != 0 {
			t.Errorf("generation %d after a whole window of silence: got %+v, want it empty", i, g)
		}
	}
}
