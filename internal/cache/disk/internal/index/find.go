package index

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// Find appends to into the places where a record of hash h may lie, at most 16.
// There is one for a key that was put, and seldom one for a key that was not:
// the record says whose it is. It allocates nothing where into has room.
//
// Places come in no order. A place that is swapped or removed meanwhile may be
// among them or not.
func (x *Index) Find(h uint64, into []Place) []Place {
	t := tagOf(h)
	at := x.homes(h, t)
	moves := &x.moves[shardOf(t)]
	for before := moves.Load(); ; {
		found := x.match(at, t, into)
		now := moves.Load()
		if now == before {
			return found
		}
		before = now
	}
}

// Has reports whether Find has a place for hash h. It allocates nothing.
func (x *Index) Has(h uint64) bool {
	t := tagOf(h)
	at := x.homes(h, t)
	moves := &x.moves[shardOf(t)]
	for before := moves.Load(); ; {
		if x.buckets[at.first].fits(t)|x.buckets[at.other].fits(t) != 0 {
			return true
		}
		now := moves.Load()
		if now == before {
			return false
		}
		before = now
	}
}

// match appends the places of tag t in the buckets of at. Both buckets are read
// before any word is judged, so the processor waits for both at once.
func (x *Index) match(at pair, t tag, into []Place) []Place {
	first, other := &x.buckets[at.first], &x.buckets[at.other]
	fits := first.fits(t) | other.fits(t)<<bucketSlots
	if fits == 0 {
		return into
	}
	return appendFitting(first, other, fits, t, into)
}

// fits returns a bit for each slot that has a word of tag t.
func (b *bucket) fits(t tag) uint32 {
	set := uint32(0)
	for i := range b {
		differs := b[i].Load()>>tagShift ^ uint64(t)
		set |= uint32((differs-1)>>63) << i
	}
	return set
}

// appendFitting appends the places of the slots in fits, each place once. A word
// may be seen twice while it moves.
func appendFitting(first, other *bucket, fits uint32, t tag, into []Place) []Place {
	start := len(into)
	for ; fits != 0; fits &= fits - 1 {
		i, b := bits.TrailingZeros32(fits), first
		if i >= bucketSlots {
			b = other
		}
		w := word(b[i%bucketSlots].Load())
		if w.tag() == t && !slices.Contains(into[start:], w.place()) {
			into = append(into, w.place())
		}
	}
	return into
}

// slotOf returns the slot with the word of hash h and place p, and the word. It
// returns nil if there is none. Without the tag's shard the word may be gone or
// another's by the time it is used.
func (x *Index) slotOf(h uint64, p Place) (*atomic.Uint64, word) {
	if !p.fits() {
		return nil, 0
	}
	t := tagOf(h)
	at, want := x.homes(h, t), newWord(t, p)
	moves := &x.moves[shardOf(t)]
	for before := moves.Load(); ; {
		if slot, w := x.search(at, want); slot != nil {
			return slot, w
		}
		now := moves.Load()
		if now == before {
			return nil, 0
		}
		before = now
	}
}

func (x *Index) search(at pair, want word) (*atomic.Uint64, word) {
	for _, n := range [...]int{at.first, at.other} {
		b := &x.buckets[n]
		for i := range b {
			if w := word(b[i].Load()); w.same(want) {
				return &b[i], w
			}
		}
	}
	return nil, 0
}
