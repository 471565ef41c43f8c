package cache

import (
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

// sampled is the keeper with ristretto: it samples what is held, and gives up what is asked for least.
//
// Ristretto indexes an item by one 64-bit word, here Key.Hi. It also takes a second word to tell keys with an equal
// first one apart. But then a Del or Set of one key changes the accounting of the other (v2.4.2: policy.Del ignores the
// second word). So it gets none, look compares the whole Key, and offer clears the place first. That also avoids the
// Set of a key that is there already, which ristretto may refuse after having returned true.
type sampled struct {
	main   *mainPart
	cache  *ristretto.Cache[uint64, uint32] // its values are numbers of Objects, see blocks
	closed bool                             // set before ristretto.Close, which reports all it holds as evicted
}

func newSampled(m *mainPart, maxCost int64) (*sampled, error) {
	s := &sampled{main: m}
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, uint32]{
		NumCounters:        counters(maxCost),
		MaxCost:            maxCost,
		BufferItems:        64,
		IgnoreInternalCost: true, // entryOverhead has it
		KeyToHash:          func(k uint64) (uint64, uint64) { return k, 0 },
		// Both run on ristretto's worker, which must never wait for anything.
		OnEvict:  func(i *ristretto.Item[uint32]) { s.left(i, capacity) },
		OnReject: func(i *ristretto.Item[uint32]) { s.left(i, rejected) },
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // newMainPart says what was tried
	}
	s.cache = cache
	return s, nil
}

func counters(maxCost int64) int64 {
	n := int64(1) << bits.Len64(uint64(maxCost/bytesPerCounter))
	return max(minCounters, min(n, maxCounters))
}

func (s *sampled) look(k Key) (it *Object, left bool) {
	n, ok := s.cache.Get(k.Hi)
	if !ok {
		return nil, false
	}
	it = s.main.blocks.at(n)
	switch {
	case it == nil || it.key.Hi != k.Hi: // another Object may have the number by now
		return nil, true
	case it.key != k:
		return nil, false
	}
	return it, false
}

// holds takes an entry whose Key has the same high word for that under k.
func (s *sampled) holds(k Key) bool {
	_, ok := s.cache.GetTTL(k.Hi)
	return ok
}

// peek scans everything that ristretto holds, as ristretto has no look-up that counts no demand. Other look-ups go on meanwhile; a
// write waits for the scan of 1/256 of it at most.
func (s *sampled) peek(k Key) (found *Object) {
	if !s.holds(k) {
		return nil
	}
	s.numbers(func(n uint32) bool {
		if o := s.main.blocks.at(n); o != nil && o.key == k {
			found = o
		}
		return found != nil
	})
	return found
}

func (s *sampled) rival(k Key) *Object {
	if n, ok := s.cache.Get(k.Hi); ok {
		return s.main.blocks.at(n)
	}
	return nil
}

// keep waits once for all: waiting for ristretto's worker takes two switches of goroutines. Between the first Set
// and the end of that wait the worker may evict at any moment, and nothing else is changed here.
func (s *sampled) keep(all []*Object, costs []int64) {
	var dropped [mostOffered]bool
	for i, it := range all {
		dropped[i] = !s.cache.Set(it.key.Hi, it.place, costs[i]) // its queue is full, or it is closed
	}
	s.cache.Wait()
	for i, it := range all {
		if dropped[i] {
			s.main.left(it, rejected, costs[i])
		}
	}
}

func (s *sampled) drop(it *Object) { s.cache.Del(it.key.Hi) }

// numbers holds a lock of ristretto's only while it visits 1/256 of what is there, so look-ups hardly wait.
func (s *sampled) numbers(visit func(n uint32) bool) { s.cache.IterValues(visit) }

func (s *sampled) used() int64 { return s.cache.MaxCost() - s.cache.RemainingCost() }

func (s *sampled) left(i *ristretto.Item[uint32], why departure) {
	if i.Value == 0 || s.closed {
		return
	}
	s.main.left(s.main.blocks.at(i.Value), why, i.Cost)
}

func (s *sampled) close() {
	s.closed = true
	s.cache.Close()
}
