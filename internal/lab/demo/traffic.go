package demo

import (
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
)

// mix says what clients ask for.
type mix struct {
	objects  int     // asked for again and again
	exponent float64 // their popularity follows Zipf's law with it; 0 or more
	oneHit   float64 // share of requests for a target never asked for before or after, in [0, 1]
	drift    int     // so many requests bring one new object in the place of an old; 0 is never
}

// usualMix is near what caches at the edge see: a third of the objects or less
// is asked for twice (Maggs and Sitaraman, CCR 45(3), 2015), popularity falls
// with an exponent below 1 (Breslau et al., INFOCOM 1999), and what is popular
// changes slowly.
func usualMix() mix { return mix{objects: 8000, exponent: 0.9, oneHit: 0.25, drift: 250} }

// traffic draws the targets of requests, one after the other. Equal mixes and
// seeds give equal targets. Not for concurrent use.
type traffic struct {
	mix     mix
	rng     *rand.Rand
	sums    []float64 // sums[r] = P(rank <= r); the last is 1
	ranks   []int     // the object of each rank
	made    int       // objects so far, those that have left included
	wonders int       // one-hit wonders so far
	drawn   int
	target  []byte
}

// newTraffic needs a mix of at least one object.
func newTraffic(m mix, seed uint64) *traffic {
	t := &traffic{
		mix: m, rng: rand.New(rand.NewPCG(seed, 0)),
		sums: make([]float64, m.objects), ranks: make([]int, m.objects), made: m.objects,
	}
	var total float64
	for r := range t.ranks {
		t.ranks[r] = r
		total += math.Pow(float64(r+1), -m.exponent)
		t.sums[r] = total
	}
	for r := range t.sums {
		t.sums[r] /= total
	}
	t.sums[m.objects-1] = 1 // whatever the rounding: a draw is below 1
	return t
}

// next returns the target of the next request. It is t's, until the next call.
func (t *traffic) next() []byte {
	t.drawn++
	if t.mix.drift > 0 && t.drawn%t.mix.drift == 0 {
		t.ranks[t.rng.IntN(len(t.ranks))] = t.made
		t.made++
	}
	if t.rng.Float64() < t.mix.oneHit {
		t.target = strconv.AppendInt(append(t.target[:0], "/once/"...), int64(t.wonders), 10)
		t.wonders++
		return t.target
	}
	u := t.rng.Float64()
	rank := sort.Search(len(t.sums), func(r int) bool { return t.sums[r] > u })
	t.target = strconv.AppendInt(append(t.target[:0], "/object/"...), int64(t.ranks[rank]), 10)
	return t.target
}
