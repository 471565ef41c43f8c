package sliding

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"
)

// word returns the bits of two lanes.
func word(low, high uint) uint64 { return 1<<low | 1<<(32+high) }

// The lanes 0 to 7 of a key take bits 0-4, 5-9, ... 35-39 of lo.
func TestAKeySetsTheseBits(t *testing.T) {
	f := func(lo uint64, want probe) {
		t.Helper()
		if got := probeOf(lo); got != want {
			t.Errorf("lo %#x: got %#x, want %#x", lo, got, want)
		}
	}
	f(0, probe{word(0, 0), word(0, 0), word(0, 0), word(0, 0)})
	f(1<<40-1, probe{word(31, 31), word(31, 31), word(31, 31), word(31, 31)})
	f(1|2<<5|3<<10|4<<15|5<<20|6<<25|7<<30|8<<35, probe{word(1, 2), word(3, 4), word(5, 6), word(7, 8)})
	f(0x84_3b61_8d56, probe{word(22, 10), word(3, 3), word(22, 29), word(16, 16)})
}

// Bits 40 to 63 of lo are for samples of keys by their hash.
func TestTheTopOfLoIsNoProbe(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 0))
	for range 1000 {
		lo := random.Uint64()
		if got, want := probeOf(lo), probeOf(lo&(1<<40-1)); got != want {
			t.Fatalf("lo %#x: got %#x, want %#x as without the top", lo, got, want)
		}
	}
}

// picture returns every word of the filter's memory that is not 0.
func (f *Filter) picture() map[[3]int]uint64 {
	out := map[[3]int]uint64{}
	for i, g := range f.ring.Held() {
		for at := range g.blocks() {
			for w := range g.block(at) {
				if v := g.block(at)[w].Load(); v != 0 {
					out[[3]int{i, at, w}] = v
				}
			}
		}
	}
	return out
}

func TestASightingSetsItsBitsInTheMastersBlockAlone(t *testing.T) {
	const hi, lo = 0xc000_0000_0000_0000, 1 | 2<<5 | 3<<10 | 4<<15 | 5<<20 | 6<<25 | 7<<30 | 8<<35 | 0xffffff<<40
	f := func(generations int) {
		t.Helper()
		filter := newTestFilter(t, generations, 10_000)
		at := filter.ring.Held()[0].blocks() * 3 / 4 // hi is three quarters of 2^64
		want := map[[3]int]uint64{
			{0, at, 0}: word(1, 2), {0, at, 1}: word(3, 4), {0, at, 2}: word(5, 6), {0, at, 3}: word(7, 8),
		}
		for range 2 { // the second one changes nothing
			filter.Seen(hi, lo)
			if got := filter.picture(); !reflect.DeepEqual(got, want) {
				t.Errorf("%d generations: got the words %#x, want %#x", generations, got, want)
			}
		}
		if got := filter.Stats(start).Keys; got != 1 {
			t.Errorf("%d generations: got %d keys, want 1", generations, got)
		}
	}
	f(2)
	f(3)
	f(4)
}

func TestTheTwoHalvesOfALineTakeTurns(t *testing.T) {
	f := newTestFilter(t, 2, 10_000)
	line := &f.ring.View().lines[0]
	half := func(side int) (ones int) {
		for i := range line[side] {
			ones += bits.OnesCount64(line[side][i].Load())
		}
		return ones
	}
	want := func(when string, first, second int) {
		t.Helper()
		if a, b := half(0), half(1); a != first || b != second {
			t.Errorf("%s: got %d and %d bits in the halves, want %d and %d", when, a, b, first, second)
		}
	}
	f.Seen(0, 0)
	want("first key", 8, 0)
	f.Rotate(start, 0)
	want("after a rotation", 8, 0)
	f.Seen(1, 1<<40-1)
	f.Seen(2, 0)
	want("two more keys", 8, 16)
	f.Rotate(start, 0)
	want("after another rotation", 0, 16)
}

// A key whose bits are spread over both generations is in neither: the union of
// the halves is never asked.
func TestHalvesAreAskedEachByItself(t *testing.T) {
	f := func(generations int) {
		t.Helper()
		filter := newTestFilter(t, generations, 10_000)
		filter.Seen(0, 0b00001) // lanes 1 to 7 of the asked key
		filter.Rotate(start, 0)
		filter.Seen(0, 0b00010<<5) // lanes 0 and 2 to 7
		if filter.Has(0, 0) || filter.Seen(0, 0) {
			t.Errorf("%d generations: got a key that only the union of two holds, want not", generations)
		}
		if !filter.Has(0, 0) {
			t.Errorf("%d generations: got it forgotten, want it seen after its sighting", generations)
		}
	}
	f(2)
	f(3)
	f(4)
}

// Reading memory that lies across two lines costs two misses for one.
func TestLinesAreWholeCacheLines(t *testing.T) {
	f := func(what string, n int, address uintptr, align uintptr) {
		t.Helper()
		if address%align != 0 {
			t.Fatalf("%d %s: got memory at %#x, want a multiple of %d", n, what, address, align)
		}
	}
	for n := 1; n < 1_000_000; n += 1 + n/7 {
		f("lines", n, reflect.ValueOf(make([]line, n)).Pointer(), 64)
		f("blocks", n, reflect.ValueOf(make([]block, n)).Pointer(), 32)
	}
}
