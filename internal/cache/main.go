package cache

import (
	"fmt"
	"math/bits"

	"github.com/dgraph-io/ristretto/v2"
)

// The size of ristretto's frequency sketch. It should have ten counters for each
// object held, or rare keys pass for frequent ones: one for each 512 bytes does
// that down to objects of 5 KiB. The next power of two is not rounded up inside
// and takes 4 bytes a counter: 0.8 to 1.6 % of the bytes.
const (
	bytesPerCounter = 512
	minCounters     = 1 << 17
	maxCounters     = 1 << 27
)

// mainPart is the ristretto cache behind the window. Only find and holds may be
// called by anyone; the rest is the writer's.
//
// Ristretto files an item under one 64-bit word, here Key.Hi. It also takes a
// second word to tell keys with an equal first one apart, but then a Del or Set
// of one key changes the books of the other (v2.4.2: policy.Del ignores the
// second word). So it gets none, find compares the whole Key, and offer clears
// the place first. That also keeps out the Set of a key that is there already,
// which ristretto may refuse after having returned true.
type mainPart struct {
	cache  *ristretto.Cache[uint64, *Object]
	cost   func(*Object) int64             // as it landed; see Store.costLocked
	book   func(departure, *Object, int64) // that one has left; see Store.leftLocked
	closed bool                            // set before ristretto.Close, which reports all it holds as evicted
}

func newMainPart(maxCost int64, cost func(*Object) int64, book func(departure, *Object, int64)) (*mainPart, error) {
	m := &mainPart{cost: cost, book: book}
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, *Object]{
		NumCounters:        counters(maxCost),
		MaxCost:            maxCost,
		BufferItems:        64,
		IgnoreInternalCost: true, // entryOverhead has it
		KeyToHash:          func(k uint64) (uint64, uint64) { return k, 0 },
		// Both run on ristretto's worker, which must never wait for anything.
		OnEvict:  func(i *ristretto.Item[*Object]) { m.left(i, capacity) },
		OnReject: func(i *ristretto.Item[*Object]) { m.left(i, rejected) },
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

// find returns the entry under k, nil if there is none. Ristretto takes it as
// a sign of demand, also on a miss and when the writer asks: that favours
// newcomers a little, which gains more hits when popularity drifts (1.8 to 3 in
// 100 in a cache of 2 % of all bytes) than it costs when it does not (1 in 100).
func (m *mainPart) find(k Key) *Object {
	it, ok := m.cache.Get(k.Hi)
	if !ok || it.key != k {
		return nil
	}
	return it
}

// holds reports whether there is an entry under k, or one whose Key has the same
// high word. Ristretto takes it as no sign of demand. Anyone may call it.
func (m *mainPart) holds(k Key) bool {
	_, ok := m.cache.GetTTL(k.Hi)
	return ok
}

// offer hands it over. When it returns, it is found here or counted as rejected,
// and whatever had to go for it is gone: the bytes held never exceed MaxCost
// plus those of it, which its owner still counts.
func (m *mainPart) offer(it *Object) {
	cost := m.cost(it)
	if other, ok := m.cache.Get(it.key.Hi); ok {
		m.remove(other)
		m.book(capacity, other, m.cost(other))
	}
	if !m.cache.Set(it.key.Hi, it, cost) { // dropped: its queue is full, or it is closed
		m.book(rejected, it, cost)
	}
	m.cache.Wait()
}

// remove takes out it, which find has just returned, without counting it.
func (m *mainPart) remove(it *Object) { m.cache.Del(it.key.Hi) }

// all returns everything that is there all the while. It holds a lock of ristretto's only for as
// long as it takes to note the pointers of 1/256 of it, so look-ups hardly wait. The caller looks at
// what they point to without a lock.
// expected is about how many there are: to make room meanwhile would take longer.
func (m *mainPart) all(expected int64) []*Object {
	all := make([]*Object, 0, expected+expected/16+1024)
	m.cache.IterValues(func(o *Object) bool {
		all = append(all, o)
		return false
	})
	return all
}

func (m *mainPart) left(i *ristretto.Item[*Object], why departure) {
	if i.Value != nil && !m.closed {
		m.book(why, i.Value, i.Cost)
	}
}

func (m *mainPart) close() {
	m.closed = true
	m.cache.Close()
}
