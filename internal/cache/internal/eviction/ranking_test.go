package eviction

import (
	"math"
	"math/rand/v2"
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
		r := NewRanking(Worth{Exponent: exponent, Uses: true}, o)
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
	r := NewRanking(Worth{Exponent: 0.5, Uses: true}, o)
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
	r := NewRanking(Worth{Exponent: 0.35, Uses: true, Patience: 2}, o)
	for i := range uint32(100) {
		o.store(i, 1000, 1000+i)
		r.Add(i)
	}
	f := func(c Newcomer, want bool) {
		t.Helper()
		if got := r.Outweigh(c, 1100); got != want {
			t.Fatalf("%+v: got outweighed %v, want %v", c, got, want)
		}
	}
	f(Newcomer{Bytes: 50_000, Times: 2, Interval: 100}, true) // worth 2·2/101, against some 1/101 + 1/100 + …
	f(Newcomer{Bytes: 2000, Times: 2, Interval: 100}, false)  // the two oldest: 1/101 + 1/100
	f(Newcomer{Bytes: 50_000, Times: 2, Interval: 1}, false)  // asked for twice at once
	f(Newcomer{Bytes: 1 << 40, Times: 2, Interval: 1}, true)  // all of them
	for want := range uint32(100) {
		if got, ok := r.Next(1100); got != want || !ok {
			t.Fatalf("got %d, %v, want %d: as if nobody had been compared", got, ok, want)
		}
	}
	f(Newcomer{Bytes: 1000, Times: 1, Interval: 1e9}, false) // nothing has to go
}

// Of many small ones only some are looked at, and the others are taken for as many.
func TestANewcomerIsComparedWithSomeOfVeryMany(t *testing.T) {
	const n = 20_000
	o := newOwner(n)
	r := NewRanking(Worth{Exponent: 0.35, Uses: true, Patience: 2}, o)
	for i := range uint32(n) {
		o.store(i, 1000, 1)
		r.Add(i)
	}
	// Each is worth 1/1001, and 10,000 together 10.
	for interval, want := range map[float64]bool{0: true, 999: true} {
		if got := r.Outweigh(Newcomer{Bytes: 10_000_000, Times: 2, Interval: interval}, 1001); got != want {
			t.Errorf("interval %v: got outweighed %v, want %v", interval, got, want)
		}
	}
	if r.Outweigh(Newcomer{Bytes: 3_000_000, Times: 2}, 1001) {
		t.Error("3,000 of worth 1/1001 outweigh one of worth 4")
	}
	if len(r.rivals) > mostRivals {
		t.Errorf("it was compared with %d, want %d at most", len(r.rivals), mostRivals)
	}
}

// Without sizes and uses the order is that of the last uses. A change of what counts needs no new places.
func TestWeighChangesWhatCounts(t *testing.T) {
	o := newOwner(3)
	r := NewRanking(Worth{Exponent: 1, Uses: true}, o)
	for i, bytes := range []int64{1 << 10, 1 << 30, 1 << 20} {
		o.store(uint32(i), bytes, uint32(i))
		r.Add(uint32(i))
	}
	if first, _ := r.Next(10); first != 1 {
		t.Fatalf("got %d first, want the largest", first)
	}
	r.Weigh(Recency())
	if r.Outweigh(Newcomer{Bytes: 1 << 40, Times: 1, Interval: 1e9}, 11) {
		t.Error("by recency no newcomer competes")
	}
	for _, want := range []uint32{0, 2} {
		if got, _ := r.Next(11); got != want {
			t.Errorf("got %d, want %d, the one used longest ago", got, want)
		}
	}
}

// Sizes and uses beyond the last class are of the last class.
func TestClassesAreBounded(t *testing.T) {
	o := newOwner(4)
	r := NewRanking(Worth{Exponent: 1, Uses: true}, o)
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
	r := NewRanking(Worth{Exponent: 0.35, Uses: true}, o)
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
