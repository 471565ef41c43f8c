package counting

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
	f, err := New(bloom.Options{Generations: generations, Capacity: 1000, FalsePositiveRate: 1e-6, Resizable: true}, start)
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
			for range r.IntN(400) {
				key := r.Uint64N(4000)
				hi, lo := key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3
				last, was := sighted[key]
				want := 0
				if was && g-last < generations {
					want = 1 // at least
				}
				if got := f.Estimate(hi, lo); got < want || want == 0 && got > 0 || f.Add(hi, lo) != got+1 {
					t.Fatalf("%d generations, generation %d, key %d sighted in %d (%v): got %d, want at least %d, and none for none", generations, g, key, last, was, got, want)
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

// The size follows the limit at the next rotation.
func TestAGenerationIsMadeForTheLimit(t *testing.T) {
	f := newResizable(t, 2)
	small := f.Bytes()
	f.SetLimit(100_000)
	f.Rotate(start, bloom.CauseFitted)
	f.Rotate(start, bloom.CauseFitted)
	large := f.Bytes()
	if large < 50*small || f.Stats(start).Room != 125_000 {
		t.Errorf("got %d bytes after %d, and room for %d", large, small, f.Stats(start).Room)
	}
	held := f.ring.Held()[1]
	f.SetLimit(70_000) // within the room, and more than half of it
	f.Rotate(start, bloom.CauseFitted)
	if f.Bytes() != large || f.ring.Held()[0] != held {
		t.Error("a limit that moved a little: got other memory, want what there was")
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
		f.Add(key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3)
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
				f.Add(key*0x9e3779b97f4a7c15, key*0xc2b2ae3d27d4eb4f>>3)
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
