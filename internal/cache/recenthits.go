package cache

import "sync/atomic"

// recentHits tells which objects were hit on the disk twice within memory's window: between the two hits, at most as
// many other hits came as memory has room for objects. It is a hash table of fixed size without chains: a later object
// overwrites an earlier one in the same place. It is safe for concurrent use, and allocates nothing.
type recentHits struct {
	places []atomic.Uint64 // upper half: upper half of the hash; lower half: the number of the hit
	hits   atomic.Uint32   // hits so far
	window uint32          // in hits
}

const (
	// meanObject is the assumed size of an object in memory.
	meanObject = 16 << 10
	maxWindow  = 1 << 24
)

// newRecentHits returns a table for a memory of so many bytes. It takes 1/2048 to 1/1024 of that, at least 8 KiB.
func newRecentHits(memoryBytes int64) *recentHits {
	window := min(max(memoryBytes/meanObject, 512), maxWindow)
	places := int64(1024)
	for places < window {
		places *= 2
	}
	return &recentHits{places: make([]atomic.Uint64, places), window: uint32(window)} //nolint:gosec // at most maxWindow
}

// secondHit notes a hit on the object with hash h, and reports whether it is the second within the window.
func (s *recentHits) secondHit(h uint64) bool {
	now := s.hits.Add(1)
	place := &s.places[h%uint64(len(s.places))]
	was := place.Load()
	place.Store(h>>32<<32 | uint64(now))
	return was != 0 && was>>32 == h>>32 && now-uint32(was) <= s.window //nolint:gosec // the lower half
}
