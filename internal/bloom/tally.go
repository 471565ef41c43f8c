package bloom

import (
	"math"
	"sync/atomic"
)

// Bounds of a Tally's shape. A stripe is worth its memory where it counts some
// thousand keys; more than maxStripes are not worth summing.
const (
	keysPerStripe = 4096
	maxStripes    = 64
	keysPerLook   = 16384 // keys of capacity for each key between two looks
	maxLook       = 64
)

// Tally counts the distinct keys of a generation without a word that every
// writer changes: keys are spread over stripes, each in a cache line of its own.
//
// All methods are safe for concurrent use. A Sum that races with Add may or may
// not have the key; at rest it is exact.
type Tally struct {
	stripes []stripe // a power of two
	look    int64    // a stripe asks for a look at every look-th key; a power of two
}

type stripe struct {
	n atomic.Int64
	_ [56]byte
}

// NewTally returns an empty tally for a generation of so many keys.
func NewTally(capacity int64) *Tally {
	return &Tally{
		stripes: make([]stripe, powerOfTwo(capacity/keysPerStripe, maxStripes)),
		look:    powerOfTwo(capacity/keysPerLook, maxLook),
	}
}

// powerOfTwo returns the largest power of two that is at most n and most, 1 if
// there is none.
func powerOfTwo(n, most int64) int64 {
	p := int64(1)
	for p*2 <= min(n, most) {
		p *= 2
	}
	return p
}

// Add counts one key and reports whether it is time to look at Sum: at every key
// in small generations, and often enough in large ones that the key which makes
// them full goes unnoticed for one key in 16384 on average. spread chooses the
// stripe by its lowest bits, which ought to differ from key to key.
func (t *Tally) Add(spread uint64) (look bool) {
	n := t.stripes[spread&uint64(len(t.stripes)-1)].n.Add(1)
	return n&(t.look-1) == 0
}

// Sum returns the number of keys counted since the last Set.
func (t *Tally) Sum() int64 {
	sum := int64(0)
	for i := range t.stripes {
		sum += t.stripes[i].n.Load()
	}
	return sum
}

// Set makes the sum n. An Add that it overlaps may be lost or left over.
func (t *Tally) Set(n int64) {
	for i := range t.stripes {
		t.stripes[i].n.Store(0)
	}
	t.stripes[0].n.Store(n)
}

// offeredSteps is in how many steps Offered goes. The midpoint rule then errs by
// less than a thousandth up to a rate of a half.
const offeredSteps = 32

// Offered returns how many distinct keys a generation was given, when it has
// counted those of them that it did not know. rate is its rate of false
// positives after n keys, so of dn keys it counts
//
//	dc = (1 - f(n)) dn
//
// which is solved for n. At 1 % the two differ by about one in a thousand. Where
// the generation is so full that it finds everything, it has lost count.
func Offered(counted int64, rate func(n uint64) float64) uint64 {
	if rate(uint64(counted)) < 1e-4 {
		return uint64(counted)
	}
	step, n := float64(counted)/offeredSteps, 0.0
	per := func(n float64) float64 { return step / max(1-rate(uint64(math.Round(n))), 1e-3) }
	for range offeredSteps {
		n += per(n + per(n)/2)
	}
	return uint64(math.Round(n))
}
