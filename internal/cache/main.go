package cache

import (
	"fmt"
	"math/bits"

	"github.com/dgraph-io/ristretto/v2"
)

// The size of ristretto's frequency sketch. It should have ten counters for each object held, or rare keys pass for
// frequent ones. One for each 512 bytes is enough for objects of 5 KiB or more. Rounding up to the next power of two
// here means that ristretto does not round again. A counter takes 4 bytes: 0.8 to 1.6 % of the bytes.
const (
	bytesPerCounter = 512
	minCounters     = 1 << 17
	maxCounters     = 1 << 27
)

// mainPart is the ristretto cache behind the window. Anyone may call find, look, holds, peek and each; the rest is the
// writer's.
//
// Ristretto indexes an item by one 64-bit word, here Key.Hi. It also takes a second word to tell keys with an equal
// first one apart. But then a Del or Set of one key changes the accounting of the other (v2.4.2: policy.Del ignores the
// second word). So it gets none, find compares the whole Key, and offer clears the place first. That also avoids the
// Set of a key that is there already, which ristretto may refuse after having returned true.
type mainPart struct {
	cache  *ristretto.Cache[uint64, uint32] // its values are numbers of Objects, see blocks
	blocks blocks
	cost   func(*Object) int64             // at which it landed; see Store.costLocked
	book   func(departure, *Object, int64) // counts a departure; see Store.leftLocked
	closed bool                            // set before ristretto.Close, which reports all it holds as evicted
}

func newMainPart(maxCost int64, cost func(*Object) int64, book func(departure, *Object, int64)) (*mainPart, error) {
	m := &mainPart{cost: cost, book: book}
	m.blocks.fit(maxCost)
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, uint32]{
		NumCounters:        counters(maxCost),
		MaxCost:            maxCost,
		BufferItems:        64,
		IgnoreInternalCost: true, // entryOverhead has it
		KeyToHash:          func(k uint64) (uint64, uint64) { return k, 0 },
		// Both run on ristretto's worker, which must never wait for anything.
		OnEvict:  func(i *ristretto.Item[uint32]) { m.left(i, capacity) },
		OnReject: func(i *ristretto.Item[uint32]) { m.left(i, rejected) },
	})
	if err != nil {
		return nil, fmt.Errorf("cache: start ristretto with %d bytes: %w", maxCost, err)
	}
	m.cache = cache
	return m, nil
}

func counters(maxCost int64) int64 {
	n := int64(1) << bits.Len64(uint64(maxCost/bytesPerCounter))
	return max(minCounters, min(n, maxCounters))
}

// find returns the entry under k, nil if there is none. Ristretto counts it as a sign of demand, also on a miss and
// when the writer asks. That favours new entries a little. It gains more hits when popularity drifts (1.8 to 3 in 100
// in a cache of 2 % of all bytes) than it costs when it does not (1 in 100).
func (m *mainPart) find(k Key) *Object {
	it, _ := m.look(k)
	return it
}

// look is find. Where it returns nil, left says that there was an entry a moment ago. That has left, possibly for an
// entry under the same key elsewhere.
func (m *mainPart) look(k Key) (it *Object, left bool) {
	n, ok := m.cache.Get(k.Hi)
	if !ok {
		return nil, false
	}
	it = m.blocks.at(n)
	switch {
	case it == nil || it.key.Hi != k.Hi: // another Object may have the number by now
		return nil, true
	case it.key != k:
		return nil, false
	}
	return it, false
}

// holds reports whether there is an entry under k, or one whose Key has the same high word. Ristretto does not count it
// as demand. Anyone may call it.
func (m *mainPart) holds(k Key) bool {
	_, ok := m.cache.GetTTL(k.Hi)
	return ok
}

// peek is find that ristretto does not count as demand. Ristretto has no such look-up, so peek scans everything it
// holds. Other look-ups go on meanwhile; a write waits for the scan of 1/256 of it at most.
func (m *mainPart) peek(k Key) (found *Object) {
	if !m.holds(k) {
		return nil
	}
	m.cache.IterValues(func(n uint32) bool {
		if o := m.blocks.at(n); o != nil && o.key == k {
			found = o
		}
		return found != nil
	})
	return found
}

// offer hands all, of which no two have an equal Key.Hi, to ristretto. When it returns, each is found here or counted
// as rejected, and whatever had to leave for them has left. The bytes held never exceed MaxCost plus those of all,
// which their owner still counts.
//
// Waiting for ristretto's worker takes two switches of goroutines, so offer waits once for all. Between the first Set
// and the end of that wait the worker may evict at any moment, and nothing else is changed here.
func (m *mainPart) offer(all []*Object) {
	var costs [mostOffered]int64
	var dropped [mostOffered]bool
	for i, it := range all {
		costs[i] = m.cost(it)
		if n, ok := m.cache.Get(it.key.Hi); ok {
			other := m.blocks.at(n)
			m.remove(other)
			m.book(capacity, other, m.cost(other))
		}
		m.blocks.offered(it)
	}
	for i, it := range all {
		dropped[i] = !m.cache.Set(it.key.Hi, it.place, costs[i]) // its queue is full, or it is closed
	}
	m.cache.Wait()
	for i, it := range all {
		if dropped[i] {
			m.blocks.release(it)
			m.book(rejected, it, costs[i])
		}
	}
}

// mostOffered is the most that offer takes at once.
const mostOffered = 16

// remove takes out it, which find has just returned, without counting it.
func (m *mainPart) remove(it *Object) {
	m.cache.Del(it.key.Hi)
	m.blocks.release(it)
}

// settle moves it, which was offered, to where it is to stay.
func (m *mainPart) settle(it *Object) {
	if it.place != 0 { // else it was rejected
		m.blocks.pack(it)
	}
	m.blocks.tidy()
}

// each calls visit with everything that is there for the whole call. It holds a lock of ristretto's only while it notes
// the numbers of 1/256 of it, so look-ups hardly wait. Visit is called without a lock. Expected is about how many there
// are: growing the list under the lock would take longer.
func (m *mainPart) each(expected int64, visit func(*Object)) {
	all := make([]uint32, 0, expected+expected/16+1024)
	m.cache.IterValues(func(n uint32) bool {
		all = append(all, n)
		return false
	})
	for _, n := range all {
		if o := m.blocks.at(n); o != nil {
			visit(o)
		}
	}
}

func (m *mainPart) left(i *ristretto.Item[uint32], why departure) {
	if i.Value == 0 || m.closed {
		return
	}
	it := m.blocks.at(i.Value)
	m.blocks.release(it)
	m.book(why, it, i.Cost)
}

func (m *mainPart) close() {
	m.closed = true
	m.cache.Close()
}
