package cache

import (
	"math/bits"
	"sync/atomic"
)

// secondChance is a set of items that leave in the order they came, except those used in the meantime: a look-up marks its
// item, without a lock, and the search for the oldest item gives a marked one another round (second chance, also called
// the clock algorithm: Corbato, 1968), up to a number of chances per search.
//
// Each item that gets another round moves in front of newer ones and so shortens their stay. With n items before it, a
// new one outlives n/(chances+1) departures, however popular the others are; without chances, all n of them.
//
// Any goroutine may call find, peek and each. The other methods are the writer's: one goroutine at a time. The owner of
// the set bounds the bytes.
//
// The table is an array of chains that the writer changes one link at a time. A removed item keeps its own link, so a
// look-up that has reached it continues along the chain. A look-up finds every item that was there all the time. Of a
// replaced item it finds the old or the new one. It may find or miss an item that is being added or removed.
type secondChance[V any] struct {
	chains []atomic.Pointer[slot[V]] // a power of two
	count  atomic.Int64              // items; a racing read is late by the write in progress
	bytes  atomic.Int64              // sum of slot.bytes; written by the writer alone

	chances int
	ring    slot[V] // sentinel: next is the newest, prev the oldest
}

// slot is one item. Key and value never change; bytes, prev and next are the
// writer's.
type slot[V any] struct {
	key        Key
	value      V
	bytes      int64
	prev, next *slot[V]
	chain      atomic.Pointer[slot[V]]
	touched    atomic.Bool // a lost mark costs at most one round
}

// newSecondChance returns an empty set, sized for about expected items.
func newSecondChance[V any](expected int64, chances int) *secondChance[V] {
	c := &secondChance[V]{
		chains:  make([]atomic.Pointer[slot[V]], 1<<bits.Len64(uint64(expected))),
		chances: chances,
	}
	c.ring.prev, c.ring.next = &c.ring, &c.ring
	return c
}

// find returns the item under k and marks it as used.
func (c *secondChance[V]) find(k Key) (v V, ok bool) {
	if c.count.Load() == 0 {
		return v, false
	}
	s := c.peek(k)
	if s == nil {
		return v, false
	}
	if c.chances > 0 && !s.touched.Load() { // read first: a hot item's cache line stays shared
		s.touched.Store(true)
	}
	return s.value, true
}

// peek returns the slot under k without marking it, nil if there is none.
func (c *secondChance[V]) peek(k Key) *slot[V] {
	s := c.head(k).Load()
	for s != nil && s.key != k {
		s = s.chain.Load()
	}
	return s
}

// each calls visit with every item that is there for the whole call; see secondChance for the others. Any goroutine may call
// it.
func (c *secondChance[V]) each(visit func(V)) {
	for i := range c.chains {
		for s := c.chains[i].Load(); s != nil; s = s.chain.Load() {
			visit(s.value)
		}
	}
}

// link returns the link that leads to the slot under k, or the nil link at the end of its chain. Only the writer may
// call it: for others the link may change at any moment.
func (c *secondChance[V]) link(k Key) *atomic.Pointer[slot[V]] {
	at := c.head(k)
	for s := at.Load(); s != nil && s.key != k; s = at.Load() {
		at = &s.chain
	}
	return at
}

// head returns the chain of k. It uses the low word: ristretto uses the high one.
func (c *secondChance[V]) head(k Key) *atomic.Pointer[slot[V]] {
	return &c.chains[k.Lo&uint64(len(c.chains)-1)]
}

// put stores v under k as the newest item. It replaces the item under k in one step, so that no look-up finds nothing,
// and returns it.
func (c *secondChance[V]) put(k Key, v V, bytes int64) (s, old *slot[V]) {
	s = &slot[V]{key: k, value: v, bytes: bytes}
	at := c.link(k)
	if old = at.Load(); old != nil {
		s.chain.Store(old.chain.Load())
	}
	c.linkNewest(s) // before old goes, or find would see a count of 0 between them
	at.Store(s)
	if old != nil {
		c.unlink(old)
	}
	return s, old
}

// remove removes s, which must be in the set.
func (c *secondChance[V]) remove(s *slot[V]) {
	c.link(s.key).Store(s.chain.Load())
	c.unlink(s)
}

// oldest returns the item that leaves next, nil if there is none.
func (c *secondChance[V]) oldest() *slot[V] {
	for range c.chances {
		s := c.ring.prev
		if s == &c.ring || !s.touched.Load() {
			break
		}
		s.touched.Store(false)
		c.renew(s)
	}
	if s := c.ring.prev; s != &c.ring {
		return s
	}
	return nil
}

// next returns the item that came after s, nil if there is none or it is marked.
func (c *secondChance[V]) next(s *slot[V]) *slot[V] {
	if s = s.prev; s == &c.ring || c.chances > 0 && s.touched.Load() {
		return nil
	}
	return s
}

// renew makes s the newest item.
func (c *secondChance[V]) renew(s *slot[V]) {
	s.prev.next, s.next.prev = s.next, s.prev
	s.prev, s.next = &c.ring, c.ring.next
	s.prev.next, s.next.prev = s, s
}

// resize adds delta to the bytes of s.
func (c *secondChance[V]) resize(s *slot[V], delta int64) {
	s.bytes += delta
	c.bytes.Add(delta)
}

func (c *secondChance[V]) linkNewest(s *slot[V]) {
	s.prev, s.next = &c.ring, c.ring.next
	s.prev.next, s.next.prev = s, s
	c.bytes.Add(s.bytes)
	c.count.Add(1)
}

func (c *secondChance[V]) unlink(s *slot[V]) {
	s.prev.next, s.next.prev = s.next, s.prev
	s.prev, s.next = nil, nil
	c.bytes.Add(-s.bytes)
	c.count.Add(-1)
}
