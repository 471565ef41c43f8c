package bloomtest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/test/testkit"
)

func besideLaws() []law {
	return []law{
		{"no sighting is lost while the window rotates", rotationsBesideSightings},
		{"no sighting is lost to one rotation", oneRotationBesideSightings},
		{"rotations at once leave a whole window, and silence an empty one", rotationsAtOnce},
		{"a generation being cleared is asked no more", clearing},
	}
}

// Workers sight keys of their own and ask for them at once, and every thousandth
// sighting one of them rotates while the others go on. begun counts the rotations that
// may have begun, so of two readings the difference plus one bounds those that did so in
// between. A sighting made while the first of them clears survives G-2 more.
func rotationsBesideSightings(t *testing.T, f Family) {
	const generations, workers, perWorker, perRotation = 4, 3, 15_000, 1000
	w := f.filter(t, Options(generations, 2*perRotation, f.Exact))
	var begun, checked, sighted atomic.Int64
	check := func(key uint64) bool {
		before := begun.Load()
		sight(w, key)
		found := known(w, key) && sight(w, key)
		if rotations := begun.Load() - before + 1; rotations >= generations-1 {
			return true // beyond the guarantee
		}
		checked.Add(1)
		return found
	}
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() {
			for i := range perWorker {
				key := uint64(n*perWorker + i)
				if !check(key) {
					t.Errorf("key %d: got forgotten within the guarantee, want known", key)
					return
				}
				if sighted.Add(1)%perRotation == 0 {
					begun.Add(1)
					w.Rotate(T0(), bloom.CauseTime)
				}
			}
		})
	}
	all.Wait()
	if got, want := checked.Load(), int64(workers*perWorker/2); got < want {
		t.Errorf("got %d sightings checked, want at least %d", got, want)
	}
}

// Workers sight keys of their own and common ones while the window rotates once.
// Whether a sighting fell into the old newest generation or the new one, it is held, and
// so is what the cleared one lies beside.
func oneRotationBesideSightings(t *testing.T, f Family) {
	const rounds, own, common, workers, each = 10, 600, 300, 2, 3
	for generations := 2; generations <= 3; generations++ {
		w := f.filter(t, Options(generations, workers*own+common, f.Exact))
		for round := range uint64(rounds) {
			at := func(worker, i int) uint64 { return round<<32 | uint64(worker+1)<<24 | uint64(i) }
			var all sync.WaitGroup
			for n := range workers {
				all.Go(func() {
					for i := range own {
						sight(w, at(n, i))
					}
					for i := range common * each {
						sight(w, round<<32|uint64(i%common))
					}
				})
			}
			all.Go(func() { w.Rotate(T0(), bloom.CauseTime) })
			all.Wait()
			for i := range own * workers {
				if !known(w, at(i/own, i%own)) {
					t.Fatalf("G=%d round %d: key %d of worker %d: got forgotten after one rotation, want known", generations, round, i%own, i/own)
				}
			}
			for key := range uint64(common) {
				if got, want := w.Count(Hash(round<<32|key)), f.least(workers*each); got < want {
					t.Fatalf("G=%d round %d key %d: got %d, want %d", generations, round, key, got, want)
				}
			}
		}
	}
}

func rotationsAtOnce(t *testing.T, f Family) {
	const workers, sightings, perRotation = 3, 1500, 5
	f.generations(t, 200, 0.01, func(t *testing.T, w Filter, generations int) {
		var all sync.WaitGroup
		var done atomic.Int64
		for n := range workers {
			all.Go(func() {
				for i := range sightings {
					sight(w, uint64(n*10_000+i))
					if i%perRotation == 0 && w.Rotate(T0(), bloom.CauseTime) {
						done.Add(1)
					}
				}
			})
		}
		all.Wait()
		s := w.Stats(T0())
		if len(s.Generations) != generations {
			t.Errorf("got %d generations, want %d", len(s.Generations), generations)
		}
		if s.Rotations.Time != done.Load() {
			t.Errorf("got %d rotations counted, want the %d that were done", s.Rotations.Time, done.Load())
		}
		for range generations { // nobody works now: everything must go, and the counters with it
			w.Rotate(T0(), bloom.CauseTime)
		}
		s = w.Stats(T0())
		for i, fill := range w.Fills() {
			if fill != 0 || s.Generations[i].Keys != 0 {
				t.Errorf("generation %d after a window of silence: got a fill of %v and %d keys, want none", i, fill, s.Generations[i].Keys)
			}
		}
	})
}

// While its generation is cleared a key is forgotten already, though its cells may
// still be there. The keys asked for are in the block that is cleared last.
func clearing(t *testing.T, f Family) {
	const hi, asked, sighted = 1<<64 - 1, 0, 1<<40 - 1
	w := f.filter(t, Options(2, 300_000, 0.01))
	underWay := func() bool { oldest, newest := w.Held(); return oldest == newest }
	caught := 0
	testkit.ComesTrue(func() bool {
		w.Sight(hi, asked)
		w.Sight(hi, sighted)
		w.Rotate(T0(), bloom.CauseTime)
		if w.Count(hi, asked) == 0 || w.Count(hi, sighted) == 0 {
			t.Fatal("after one rotation: got forgotten, want known")
		}
		var done atomic.Bool
		go func() {
			w.Rotate(T0(), bloom.CauseTime)
			done.Store(true)
		}()
		for !underWay() && !done.Load() {
			runtime.Gosched()
		}
		if underWay() {
			has, seen := w.Count(hi, asked) > 0, w.Sight(hi, sighted)
			if underWay() { // it has been all the time
				caught++
				if has || seen {
					t.Fatalf("keys of the generation being cleared: got Count %v and Sight %v, want forgotten", has, seen)
				}
			}
		}
		for !done.Load() {
			runtime.Gosched()
		}
		return caught >= 3
	})
	if caught < 3 {
		t.Errorf("got the filter in the middle of a rotation %d times, want 3: the law tries nothing", caught)
	}
}
