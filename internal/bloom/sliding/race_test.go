package sliding

import (
	"bytes"
	"io"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
)

// ones counts the bits that are set, by a scan.
func (g *generation) ones() (n int) {
	for at := range g.blocks() {
		for i := range g.block(at) {
			n += bits.OnesCount64(g.block(at)[i].Load())
		}
	}
	return n
}

// Workers sight keys of their own and ask for them at once, and every thousandth
// sighting one of them rotates while the others go on. begun counts the
// rotations that may have begun, so of two readings the difference plus one
// bounds those that did so in between. A sighting made while the first of them
// clears survives G-2 more.
func TestNoSightingIsLostWhileTheWindowRotates(t *testing.T) {
	const generations, workers, perWorker, perRotation = 4, 3, 30_000, 1000
	f := newTestFilter(t, generations, 2*perRotation, 1e-9)
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

// Two generations share their lines: clearing one must leave the other alone.
// Keys are asked for after exactly one rotation, which ran beside sightings.
func TestClearingOneHalfLeavesTheOtherAlone(t *testing.T) {
	const rounds, keys, workers = 15, 3000, 2
	f := newTestFilter(t, 2, keys*workers, 1e-6)
	for round := range uint64(rounds) {
		at := func(w, i int) uint64 { return round<<32 | uint64(w)<<24 | uint64(i) }
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range keys {
					f.seen(at(w, i))
				}
			})
		}
		wg.Go(func() { f.Rotate(start, bloom.CauseTime) })
		wg.Wait()
		// Whether they fell into the old master or the new one, they are held.
		for w := range workers {
			for i := range keys {
				if !f.has(at(w, i)) {
					t.Fatalf("round %d: key %d of worker %d: got forgotten after one rotation, want seen", round, i, w)
				}
			}
		}
	}
}

func TestConcurrentRotationsLeaveAWholeWindow(t *testing.T) {
	for generations := 2; generations <= 3; generations++ {
		f := newTestFilter(t, generations, 1000, 0.01)
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
		for i, g := range f.ring.Held() {
			if g.ones() != 0 || g.Keys() != 0 {
				t.Errorf("generation %d after a whole window of silence: got %d bits and %d keys, want none", i, g.ones(), g.Keys())
			}
		}
	}
}

// Everything at once: what is saved meanwhile loads, and holds what was sighted
// before the save and is within its window.
func TestEverythingBesideEverything(t *testing.T) {
	const keys, saves = 200, 15
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, 4000, 1e-6)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		background := func(work func(i uint64)) {
			wg.Go(func() {
				for i := uint64(0); ; i++ {
					select {
					case <-stop:
						return
					default:
						work(i)
						runtime.Gosched() // two processors, five loops
					}
				}
			})
		}
		background(func(i uint64) { f.seen(1<<40 + i) })
		background(func(uint64) { f.Stats(start); f.Full(); f.Held(); f.Bytes() })
		background(func(uint64) { _ = f.Save(io.Discard, start) })
		for round := range uint64(saves) {
			for key := range uint64(keys) {
				f.seen(round<<20 | key)
			}
			var b bytes.Buffer
			if err := f.Save(&b, start); err != nil {
				t.Fatal(err)
			}
			loaded, err := Load(&b, f.options, start)
			if err != nil {
				t.Fatal(err)
			}
			for key := range uint64(keys) {
				if !loaded.has(round<<20 | key) {
					t.Fatalf("G=%d round %d: key %d: got not in the state, want it there", generations, round, key)
				}
			}
			f.Rotate(start, bloom.CauseTime)
		}
		close(stop)
		wg.Wait()
	}
}

// A rotation in the middle of a save takes the oldest generation out of it,
// never half of it, and is not lost itself.
func TestARotationDuringASaveIsNotLost(t *testing.T) {
	const capacity = 30_000
	for generations := 2; generations <= 3; generations++ {
		f := newTestFilter(t, generations, capacity, 1e-6)
		fillWindow(f, generations, capacity)
		var b bytes.Buffer
		writes := 0
		w := writer(func(p []byte) (int, error) {
			if writes++; writes == 4 { // the header, a start, two pieces of the oldest
				if !f.Rotate(start, bloom.CauseTime) {
					t.Error("rotation during a save: got refused, want done")
				}
			}
			return b.Write(p)
		})
		if err := f.Save(w, start); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(&b, f.options, start)
		if err != nil {
			t.Fatal(err)
		}
		held := loaded.ring.Held()
		if oldest := held[generations-1]; oldest.ones() != 0 || oldest.Keys() != 0 {
			t.Errorf("G=%d: got %d bits of the forgotten generation, want none", generations, oldest.ones())
		}
		for key := uint64(capacity); key < uint64(capacity*generations); key++ {
			if !loaded.has(key) {
				t.Fatalf("G=%d: key %d of a generation still held: got lost, want it saved", generations, key)
			}
		}
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// While its generation is cleared a key is forgotten already, though its bits may
// still be there. The keys asked for are in the block that is cleared last.
func TestAGenerationBeingClearedIsAskedNoMore(t *testing.T) {
	const hi, asked, sighted = 1<<64 - 1, 0, 1<<40 - 1
	f := newTestFilter(t, 2, 300_000, 0.01)
	clearing := func() bool { oldest, newest := f.Held(); return oldest == newest }
	caught := 0
	for try := 0; try < 200 && caught < 3; try++ {
		f.Seen(hi, asked)
		f.Seen(hi, sighted)
		f.Rotate(start, bloom.CauseTime)
		if !f.Has(hi, asked) || !f.Has(hi, sighted) {
			t.Fatal("after one rotation: got forgotten, want seen")
		}
		var done atomic.Bool
		go func() {
			f.Rotate(start, bloom.CauseTime)
			done.Store(true)
		}()
		for !clearing() && !done.Load() {
			runtime.Gosched()
		}
		if !clearing() {
			continue
		}
		has, seen := f.Has(hi, asked), f.Seen(hi, sighted)
		if clearing() { // it has been all the time
			caught++
			if has || seen {
				t.Fatalf("keys of the generation being cleared: got Has %v and Seen %v, want forgotten", has, seen)
			}
		}
		for !done.Load() {
			runtime.Gosched()
		}
	}
	if caught < 3 {
		t.Errorf("got the filter in the middle of a rotation %d times, want 3: the test tries nothing", caught)
	}
}
