package eviction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// owner is the Objects of a test.
type owner struct {
	times, last []uint32
	bytes       []int64
}

func (o *owner) Uses(i uint32) (times, last uint32) { return o.times[i], o.last[i] }

func (o *owner) Bytes(i uint32) int64 { return o.bytes[i] }

func newOwner(n int) *owner {
	return &owner{times: make([]uint32, n), last: make([]uint32, n), bytes: make([]int64, n)}
}

// store notes that i is stored at a tick.
func (o *owner) store(i uint32, bytes int64, now uint32) {
	o.times[i], o.last[i], o.bytes[i] = 1, now, bytes
}

func (o *owner) use(i, now uint32) { o.times[i]++; o.last[i] = now }

// worth is what the doc says, with the classes in place of bytes and uses.
func (o *owner) worth(i uint32, exponent float64, now uint32) float64 {
	size := math.Floor(math.Log2(float64(o.bytes[i]))) + 1
	return (1 + min(math.Floor(math.Log2(float64(o.times[i]))), 4)) / (float64(now-o.last[i]+1) * math.Exp2(exponent*size))
}

// Where each use is followed by a new place, the next one is that of least worth of all.
func TestNextIsTheObjectOfLeastWorth(t *testing.T) {
	for _, exponent := range []float64{0, 0.35, 1} {
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 200
		o := newOwner(n)
		r := NewRanking(exponent, o)
		held := map[uint32]bool{}
		for now := uint32(1); now < 20_000; now++ {
			i := uint32(rng.IntN(n))
			switch {
			case held[i] && rng.IntN(3) > 0:
				o.use(i, now)
				r.Remove(i)
				r.Add(i)
			case held[i]:
				r.Remove(i)
				delete(held, i)
			case len(held) < n/2:
				o.store(i, 1<<rng.IntN(20), now)
				r.Add(i)
				held[i] = true
			default:
				got, ok := r.Next(now)
				if !ok || !held[got] {
					t.Fatalf("tick %d: got %d, %v, want one of those held", now, got, ok)
				}
				for other := range held {
					if least := o.worth(other, exponent, now); least < o.worth(got, exponent, now)*(1-1e-9) {
						t.Fatalf("tick %d: got %d of worth %g, and %d has %g", now, got, o.worth(got, exponent, now), other, least)
					}
				}
				delete(held, got)
			}
		}
		if len(held) == 0 {
			t.Fatal("nothing was held")
		}
	}
}

// Hits change no list. What was used since it got its place gets another one before anything is given up.
func TestWhatWasUsedIsNotGivenUpFirst(t *testing.T) {
	o := newOwner(3)
	r := NewRanking(0.5, o)
	for i := range uint32(3) {
		o.store(i, 100, i)
		r.Add(i)
	}
	o.use(0, 10)
	for _, want := range []uint32{1, 2, 0} {
		if got, ok := r.Next(11); got != want || !ok {
			t.Errorf("got %d, %v, want %d", got, ok, want)
		}
	}
	if _, ok := r.Next(12); ok {
		t.Error("got an object from an empty ranking")
	}
}

// A large body must be worth more than all the small ones that would go for it.
func TestANewcomerCompetesWithAllThatWouldGo(t *testing.T) {
	o := newOwner(100)
	r := NewRanking(0.35, o)
	fill := func() {
		for i := range uint32(100) {
			o.store(i, 1000, 1000+i)
			r.Add(i)
		}
	}
	fill()
	f := func(bytes int64, c Newcomer, want int) {
		t.Helper()
		got, ok := r.Yield(bytes, c, 1100)
		if len(got) != want || ok != (want > 0) {
			t.Fatalf("%d bytes for %+v: got %d objects, %v, want %d", bytes, c, len(got), ok, want)
		}
	}
	f(50_000, Newcomer{Times: 2, Interval: 100}, 0) // worth 2·2/101, against some 1/101 + 1/100 + …
	f(2000, Newcomer{Times: 2, Interval: 100}, 2)   // the two oldest: 1/101 + 1/100
	f(50_000, Newcomer{Times: 2, Interval: 1}, 50)  // asked for twice at once
	var left []uint32
	for {
		i, ok := r.Next(1100)
		if !ok {
			break
		}
		left = append(left, i)
	}
	if len(left) != 48 || !slices.IsSorted(left) || left[0] != 52 {
		t.Errorf("got %v, want 52 to 99 in order, as if nobody had lost", left)
	}
}

// Sizes and uses beyond the last class are of the last class.
func TestClassesAreBounded(t *testing.T) {
	o := newOwner(4)
	r := NewRanking(1, o)
	for i, bytes := range []int64{0, 1, math.MaxInt64, -1} {
		o.store(uint32(i), bytes, 1)
		o.times[i] = math.MaxUint32
		r.Add(uint32(i))
	}
	if first, _ := r.Next(2); first != 2 {
		t.Errorf("got %d, want the largest", first)
	}
}

func BenchmarkNext(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	o := newOwner(n)
	r := NewRanking(0.35, o)
	for i := range uint32(n) {
		o.store(i, int64(math.Exp(9+1.5*rng.NormFloat64()))+1, i)
		r.Add(i)
	}
	now := uint32(n)
	b.ReportAllocs()
	for b.Loop() {
		for range 4 { // hits
			o.use(uint32(rng.IntN(n)), now)
		}
		i, _ := r.Next(now)
		o.store(i, o.bytes[i], now)
		r.Add(i)
		now++
	}
}
