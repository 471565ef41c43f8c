package sliding

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

// newResizable returns a filter whose first generations hold 1000 keys.
func newResizable(t *testing.T, generations int) *Filter {
	t.Helper()
	f, err := New(bloom.Options{Generations: generations, Capacity: 1000, FalsePositiveRate: 1e-9, Resizable: true}, start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever sizes the generations have had, a filter knows what was sighted within
// its window, and nothing else: at this rate no key of the test is mistaken.
func TestAWindowOfSeveralSizesForgetsWhatItShould(t *testing.T) {
	for generations := 2; generations <= 4; generations++ {
		r := rand.New(rand.NewPCG(7, uint64(generations)))
		f := newResizable(t, generations)
		sighted := map[uint64]int{} // key: generation
		sizes := map[int64]bool{}
		for g := range 60 {
			f.SetLimit(1 << r.IntN(14))
			sizes[f.ring.Held()[0].capacity] = true
			for range r.IntN(800) {
				key := r.Uint64N(4000)
				hi, lo := key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3
				last, was := sighted[key]
				want := was && g-last < generations
				if f.Has(hi, lo) != want || f.Seen(hi, lo) != want || !f.Has(hi, lo) {
					t.Fatalf("%d generations, generation %d, key %d sighted in %d (%v): want known %v", generations, g, key, last, was, want)
				}
				sighted[key] = g
			}
			if r.IntN(3) == 0 {
				f = reload(t, f)
			}
			f.Rotate(start, bloom.CauseFitted)
		}
		if len(sizes) < 5 {
			t.Errorf("got %d sizes, want many", len(sizes))
		}
	}
}

func reload(t *testing.T, f *Filter) *Filter {
	t.Helper()
	var b bytes.Buffer
	if err := f.Save(&b, start); err != nil {
		t.Fatal(err)
	}
	o := f.options
	o.Capacity = 77
	loaded, err := Load(&b, o, start)
	if err != nil {
		t.Fatal(err)
	}
	loaded.SetLimit(f.Limit())
	return loaded
}

// The size follows the limit at the next rotation, and both generations share their
// lines again at the one after.
func TestGenerationsOfOneSizeLieSideBySideAgain(t *testing.T) {
	f := newResizable(t, 2)
	sideBySide := func() bool { return f.ring.View().lines != nil }
	small := f.Bytes()
	if !sideBySide() {
		t.Error("at first: got two arrays, want one")
	}
	f.SetLimit(100_000)
	if f.Bytes() != small || f.Stats(start).Room != 1000 {
		t.Error("the newest generation: got another size, want that of its birth")
	}
	f.Rotate(start, bloom.CauseFitted)
	if between := f.Bytes(); sideBySide() || between < 50*small {
		t.Errorf("between two sizes: got side by side %v and %d bytes of %d", sideBySide(), between, small)
	}
	f.Rotate(start, bloom.CauseFitted)
	large := f.Bytes()
	if !sideBySide() || f.Stats(start).Room != 125_000 {
		t.Errorf("after the second rotation: got side by side %v and room for %d", sideBySide(), f.Stats(start).Room)
	}
	lines := &f.ring.View().lines[0]
	f.SetLimit(70_000) // within the room, and more than half of it
	for range 3 {
		f.Rotate(start, bloom.CauseFitted)
	}
	if f.Bytes() != large || &f.ring.View().lines[0] != lines {
		t.Errorf("a limit that moved a little: got %d bytes or other memory, want the %d there were", f.Bytes(), large)
	}
	f.SetLimit(500)
	for range 2 {
		f.Rotate(start, bloom.CauseFitted)
	}
	if f.Bytes() > small || !sideBySide() {
		t.Errorf("shrunk: got %d bytes, want %d or less", f.Bytes(), small)
	}
}

// A generation made for less than the limit is full when it has no more room.
func TestASmallGenerationIsFullBeforeTheLimit(t *testing.T) {
	f := newResizable(t, 2)
	f.SetLimit(1 << 20)
	for key := range uint64(2000) {
		if f.Full() {
			if key != 1000 {
				t.Errorf("got full after %d keys, want 1000", key)
			}
			return
		}
		f.Seen(key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3)
	}
	t.Error("got 2000 keys into a generation made for 1000")
}

func TestSightingsBesideRotationsOfOtherSizes(t *testing.T) {
	f := newResizable(t, 2)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for key := uint64(0); ; key++ {
			select {
			case <-stop:
				return
			default:
				f.Seen(key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3)
				f.Stats(start)
			}
		}
	}()
	for n := range int64(300) {
		f.SetLimit(1 + n%7*1000)
		f.Rotate(start.Add(time.Duration(n)), bloom.CauseFitted)
	}
	close(stop)
	<-done
}
