package bloomtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

func sizeLaws() []law {
	return []law{
		{"a window of several sizes forgets what it should", severalSizes},
		{"a generation is made for the limit", madeForTheLimit},
		{"a small generation is full before the limit", smallIsFull},
		{"sightings beside rotations of other sizes", sizesBesideSightings},
	}
}

// resizable are options of first generations that hold 1000 keys.
func (f Family) resizable(generations int) bloom.Options {
	o := Options(generations, 1000, f.Exact)
	o.Resizable = true
	return o
}

// Whatever sizes the generations have had, and whatever was loaded between, a filter
// knows what was sighted within its window, and nothing else.
func severalSizes(t *testing.T, f Family) {
	for generations := 2; generations <= 4; generations++ {
		r := rand.New(rand.NewPCG(7, uint64(generations)))
		o := f.resizable(generations)
		w := f.filter(t, o)
		sighted := map[uint64]int{} // key: generation
		sizes := map[int64]bool{}
		for g := range 30 {
			w.SetLimit(1 << r.IntN(12))
			sizes[w.Stats(T0()).Room] = true
			for range r.IntN(300) {
				key := r.Uint64N(2000)
				last, was := sighted[key]
				want := was && g-last < generations
				if before := w.Count(Hash(key)); before > 0 != want || sight(w, key) != want || w.Count(Hash(key)) != f.after(before) {
					t.Fatalf("%d generations, generation %d, key %d sighted in %d (%v): got a count of %d, want known %v, and then one more", generations, g, key, last, was, before, want)
				}
				sighted[key] = g
			}
			if r.IntN(3) == 0 {
				o.Capacity = 77
				limit := w.Limit()
				w = f.loaded(t, saved(t, w, T0()), o, T0())
				w.SetLimit(limit)
			}
			w.Rotate(T0(), bloom.CauseFitted)
		}
		if len(sizes) < 5 {
			t.Errorf("got %d sizes, want many", len(sizes))
		}
	}
}

// The size follows the limit at the rotations after it.
func madeForTheLimit(t *testing.T, f Family) {
	w := f.filter(t, f.resizable(2))
	rotate := func(n int) {
		for range n {
			w.Rotate(T0(), bloom.CauseFitted)
		}
	}
	small := w.Bytes()
	w.SetLimit(100_000)
	if w.Bytes() != small || w.Stats(T0()).Room != 1000 {
		t.Error("the newest generation: got another size, want that of its birth")
	}
	rotate(1)
	if got := w.Bytes(); got < 50*small {
		t.Errorf("between two sizes: got %d bytes of %d", got, small)
	}
	rotate(1)
	large := w.Bytes()
	if large < 50*small || w.Stats(T0()).Room != 125_000 {
		t.Errorf("after the second rotation: got %d bytes of %d, and room for %d", large, small, w.Stats(T0()).Room)
	}
	w.SetLimit(70_000) // within the room, and more than half of it
	rotate(3)
	if got := w.Bytes(); got != large {
		t.Errorf("a limit that moved a little: got %d bytes, want the %d there were", got, large)
	}
	w.SetLimit(500)
	rotate(2)
	if got := w.Bytes(); got > small {
		t.Errorf("shrunk: got %d bytes, want %d or less", got, small)
	}
}

// A generation made for less than the limit is full when it has no more room.
func smallIsFull(t *testing.T, f Family) {
	w := f.filter(t, f.resizable(2))
	w.SetLimit(1 << 20)
	for key := range uint64(2000) {
		if w.Full() {
			if key != 1000 {
				t.Errorf("got full after %d keys, want 1000", key)
			}
			return
		}
		sight(w, key)
	}
	t.Error("got 2000 keys into a generation made for 1000")
}

func sizesBesideSightings(t *testing.T, f Family) {
	w := f.filter(t, f.resizable(2))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for key := uint64(0); ; key++ {
			select {
			case <-stop:
				return
			default:
				sight(w, key)
				w.Stats(T0())
			}
		}
	}()
	for n := range int64(150) {
		w.SetLimit(1 + n%7*1000)
		w.Rotate(T0().Add(time.Duration(n)), bloom.CauseFitted)
	}
	close(stop)
	<-done
}
