package index

import (
	"runtime"
	"sync/atomic"
)

// Put adds place p for hash h, without hits. If there is room for it in no way,
// another word is pushed out and returned: of 16 the one with the fewest hits,
// and of these the one whose segment was begun longest before that of p, numbers
// going round after 65,535. Its record is dead then, and the caller's to free. A
// place that a word cannot hold comes back itself.
//
// Put does not look for other places of h. A record that takes another's place is
// for Swap. To put what is there already changes nothing.
func (x *Index) Put(h uint64, p Place) (lost Place, wasLost bool) {
	if !p.fits() {
		return p, true
	}
	t := tagOf(h)
	at, w := x.homes(h, t), newWord(t, p)
	s := &x.writers[shardOf(t)]
	for {
		out, done := x.putShard(s, at, w)
		if done {
			return out.place(), out != 0
		}
		runtime.Gosched() // all 16 words are being changed by others
	}
}

// putShard is one attempt of Put. It returns the word pushed out, or 0, and
// whether w is in.
func (x *Index) putShard(s *shard, at pair, w word) (out word, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot, _ := x.search(at, w); slot != nil {
		return 0, true
	}
	if !x.claim(at, w) && !x.displaceLocked(at, w) {
		if out = x.pushOutLocked(at, w); out == 0 {
			return 0, false
		}
	}
	x.came(w)
	return out, true
}

// claim puts w into a free slot of at, in the emptier bucket, and reports whether
// there was one.
func (x *Index) claim(at pair, w word) bool {
	for {
		b, free := x.buckets[at.first].free()
		if c, more := x.buckets[at.other].free(); more > free {
			b, free = c, more
		}
		if free == 0 {
			return false
		}
		if b.CompareAndSwap(0, uint64(w)) {
			return true
		}
	}
}

// free returns a free slot of b and how many there are.
func (b *bucket) free() (slot *atomic.Uint64, count int) {
	for i := range b {
		if b[i].Load() == 0 {
			slot, count = &b[i], count+1
		}
	}
	return slot, count
}

// displaceLocked puts w into the slot of a word of at that can move to its other
// bucket, and reports whether one could. The shard of w's tag is held.
func (x *Index) displaceLocked(at pair, w word) bool {
	for _, n := range [...]int{at.first, at.other} {
		b := &x.buckets[n]
		for i := range b {
			v := word(b[i].Load())
			if v == 0 { // since claim looked
				if b[i].CompareAndSwap(0, uint64(w)) {
					return true
				}
				continue
			}
			room, free := x.buckets[x.partner(n, v.tag())].free()
			if free > 0 && x.moveLocked(&b[i], room, v, w) {
				return true
			}
		}
	}
	return false
}

// moveLocked moves word v from one slot to another, which is free, and puts w where
// v was. It reports false if v, or the free slot, is another's by now. A look-up
// sees v all the time: it is in its new slot before it leaves the old one, and who
// read the new one before and the old one after that sees the count of moves differ.
func (x *Index) moveLocked(from, to *atomic.Uint64, v, w word) bool {
	if !x.tryLockAside(v, w) {
		return false
	}
	defer x.unlockAside(v, w)
	now := word(from.Load())
	if !now.same(v) || !to.CompareAndSwap(0, uint64(now)) {
		return false
	}
	x.moves[shardOf(v.tag())].Add(1)
	replace(from, w)
	return true
}

// pushOutLocked puts w in the place of another word of at, and returns that. It
// returns 0 if writers of the other's tag are at work.
func (x *Index) pushOutLocked(at pair, w word) word {
	slot, v := x.leastWanted(at, w.place().Segment)
	if v == 0 || !x.tryLockAside(v, w) {
		return 0
	}
	defer x.unlockAside(v, w)
	if !word(slot.Load()).same(v) {
		return 0
	}
	x.left(v)
	return replace(slot, w)
}

// leastWanted returns the slot and word of at with the fewest hits; of several the
// one whose segment is the furthest before newest.
func (x *Index) leastWanted(at pair, newest uint16) (slot *atomic.Uint64, least word) {
	leastHits, longest := MaxHits+1, uint16(0)
	for _, n := range [...]int{at.first, at.other} {
		b := &x.buckets[n]
		for i := range b {
			w := word(b[i].Load())
			age := newest - w.place().Segment
			if w == 0 || w.hits() > leastHits || w.hits() == leastHits && age <= longest {
				continue
			}
			slot, least, leastHits, longest = &b[i], w, w.hits(), age
		}
	}
	return slot, least
}

// replace puts w where another word is, whose shard is held, so that nothing but
// its hits can change meanwhile. It returns that word.
func replace(slot *atomic.Uint64, w word) word {
	for {
		v := slot.Load()
		if slot.CompareAndSwap(v, uint64(w)) {
			return word(v)
		}
	}
}

// tryLockAside takes the shard of v's tag while that of w's is held. It does not
// wait, so two writers cannot wait for each other.
func (x *Index) tryLockAside(v, w word) bool {
	return shardOf(v.tag()) == shardOf(w.tag()) || x.writers[shardOf(v.tag())].mu.TryLock()
}

func (x *Index) unlockAside(v, w word) {
	if shardOf(v.tag()) != shardOf(w.tag()) {
		x.writers[shardOf(v.tag())].mu.Unlock()
	}
}
