package cache

import (
	"edgeproxy/internal/cache/internal/eviction"
)

// This file lets newcomers compete: an entry that is worth less than those that would have to leave for it is not to be stored.

// worth returns what counts with an eviction that is not Ristretto.
func worth(e Eviction, o Optimise) eviction.Worth {
	switch {
	case e == Recency:
		return eviction.Recency()
	case o == ForHits:
		return eviction.Hits()
	case o == ForByteHits:
		return eviction.Bytes()
	}
	return eviction.Balanced()
}

// Evict changes the eviction. What is held stays. From Ristretto and to Ristretto it changes nothing: that takes another Store.
func (s *Store) Evict(e Eviction, o Optimise) {
	if s.ranked == nil || e == Ristretto {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranked.ranking.Weigh(worth(e, o))
}

// Outweighed reports whether e, which admission would let in, is worth less than the entries that would have to leave the memory tier
// for it. Then it is to be held back: it goes to the stage if there is one. Length is the length of the body, -1 if unknown: then e
// counts as an entry of mean size. Times is how often e was asked for within the window, as far as admission knows, this request
// included; 0 says that e does not compete. Nothing that is held changes.
//
// Entries compete only with SizeAware, where there is no Disk, and in a full tier. One that takes the place of another under its key
// does not.
func (s *Store) Outweighed(e *Entry, length int64, times int) bool {
	if times == 0 || s.ranked == nil || s.disk != nil || s.roomy() {
		return false
	}
	cost := int64(0)
	if length >= 0 {
		cost = e.weightWith(length).all()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outweighedLocked(e.Key, cost, times)
}

// roomy reports whether there is room for an entry of any size.
func (s *Store) roomy() bool {
	return s.memoryBytes()+s.limits.windowBytes < s.limits.mainBytes
}

// outweighedLocked is Outweighed for an entry of a cost; 0 is the mean.
func (s *Store) outweighedLocked(k Key, cost int64, times int) bool {
	r := s.ranked
	if times == 0 || r == nil || s.disk != nil || s.heldLocked(k) != nil {
		return false
	}
	if cost == 0 {
		cost = r.bytes / max(r.objects, 1)
	}
	missing := min(s.window.bytes.Load()+r.bytes+cost-s.limits.windowBytes-r.most, cost)
	if missing <= 0 {
		return false
	}
	c := eviction.Newcomer{Bytes: missing, Times: uint32(times), Interval: s.intervalLocked(k)} //nolint:gosec // at most 15
	if !r.ranking.Outweigh(c, r.tick.Load()) {
		return false
	}
	s.books.outweighed.Add(1)
	r.loses(k)
	return true
}

// intervalLocked returns how many ticks ago the entry under k was outweighed, or else staged. If neither is known, it is as long as it
// takes to write as many entries as are held. (The later of the two makes no difference in make evict.)
func (s *Store) intervalLocked(k Key) float64 {
	now := s.ranked.tick.Load()
	if at, ok := s.ranked.lostAt(k); ok {
		return float64(now - at)
	}
	if staged := s.stage.items.peek(k); staged != nil {
		return float64(now - staged.value.used.Load())
	}
	return float64(min(ticksHeld, s.ranked.objects))
}
