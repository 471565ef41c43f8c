package counting

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"testing"

	"edgeproxy/internal/bloom"
)

// Keys are counted while the window rotates once; whether a sighting fell into
// the old master or the new one, the sum holds it.
func TestNoSightingIsLostToARotation(t *testing.T) {
	const rounds, keys, workers, each = 15, 1000, 2, 3
	for generations := 2; generations <= 3; generations++ {
		f := newTestFilter(t, generations, keys, 1e-5)
		for round := range uint64(rounds) {
			var wg sync.WaitGroup
			for range workers { // all of them count the same keys
				wg.Go(func() {
					for i := range uint64(keys * each) {
						f.add(round<<32 | i%keys)
					}
				})
			}
			wg.Go(func() { f.Rotate(start, bloom.CauseTime) })
			wg.Wait()
			for key := range uint64(keys) {
				if got := f.estimate(round<<32 | key); got < workers*each {
					t.Fatalf("G=%d round %d key %d: got %d, want %d", generations, round, key, got, workers*each)
				}
			}
		}
	}
}

func TestNothingIsLeftAfterAWindowOfSilence(t *testing.T) {
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, 200, 0.01)
		var wg sync.WaitGroup
		for w := range uint64(3) {
			wg.Go(func() {
				for i := range uint64(3000) {
					f.add(w*10_000 + i)
					if i%50 == 0 {
						f.Rotate(start, bloom.CauseFull)
					}
				}
			})
		}
		wg.Wait()
		for range generations {
			f.Rotate(start, bloom.CauseTime)
		}
		for i, g := range f.ring.Held() {
			if g.inUse() != 0 || g.Keys() != 0 {
				t.Errorf("G=%d generation %d: got %d counters in use and %d keys, want none", generations, i, g.inUse(), g.Keys())
			}
		}
	}
}

// Everything at once: what is saved meanwhile loads, and counts what was sighted
// before the save and is within its window.
func TestEverythingBesideEverything(t *testing.T) {
	const keys, saves = 200, 15
	for generations := 2; generations <= 4; generations++ {
		f := newTestFilter(t, generations, 2000, 1e-4)
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
		background(func(i uint64) { f.add(1<<40 + i) })
		background(func(uint64) { f.Stats(start); f.Full(); f.Held(); f.Bytes() })
		background(func(uint64) { _ = f.Save(io.Discard, start) })
		for round := range uint64(saves) {
			for key := range uint64(keys) {
				f.add(round<<20 | key)
				f.add(round<<20 | key)
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
				if got := loaded.estimate(round<<20 | key); got < 2 {
					t.Fatalf("G=%d round %d key %d: got a count of %d in the state, want 2", generations, round, key, got)
				}
			}
			f.Rotate(start, bloom.CauseTime)
		}
		close(stop)
		wg.Wait()
	}
}
