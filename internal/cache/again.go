package cache

import "sync/atomic"

// sightings tells which objects were hit on the disk twice within memory's window: so that no more others were
// hit there in between than memory has room for. It is a table of fixed size. Where two share a place, the later
// one takes it. It is safe for concurrent use, and allocates nothing.
type sightings struct {
	places []atomic.Uint64 // upper half: of the hash; lower half: the number of the hit
	hits   atomic.Uint32   // so far
	window uint32          // in hits
}

const (
	// meanObject is what an object is taken to need of memory.
	meanObject = 16 << 10
	maxWindow  = 1 << 24
)

// newSightings returns a table for a memory of so many bytes: 1/2048 of that, or 8 KiB.
func newSightings(memoryBytes int64) *sightings {
	window := min(max(memoryBytes/meanObject, 512), maxWindow)
	places := int64(1024)
	for places < window {
		places *= 2
	}
	return &sightings{places: make([]atomic.Uint64, places), window: uint32(window)} //nolint:gosec // at most maxWindow
}

// again notes a hit, and reports whether it is the second within the window.
func (s *sightings) again(h uint64) bool {
	now := s.hits.Add(1)
	place := &s.places[h%uint64(len(s.places))]
	was := place.Load()
	place.Store(h>>32<<32 | uint64(now))
	return was != 0 && was>>32 == h>>32 && now-uint32(was) <= s.window //nolint:gosec // the lower half
}
