package proxy

import (
	"slices"
	"sync"

	"edgeproxy/internal/cache"
)

const (
	// askedPlaces is how many URLs and slices askedRanges adds up for, in 400 KiB.
	askedPlaces = 1 << 14
	// askedWays is how many places a key may have, side by side.
	askedWays = 8
)

// askedRanges adds up how many bytes ranges have asked for of what is not stored, by its key, and remembers how long the whole is. It has
// a fixed size. Where there is no place, the key with the fewest bytes is forgotten: then its bytes add up anew, and meanwhile the origin is asked for
// ranges. It is safe for concurrent use.
type askedRanges struct {
	sets [askedPlaces / askedWays]askedSet
}

// askedSet has the keys with the same hash.
type askedSet struct {
	mu    sync.Mutex
	key   [askedWays]uint64 // 0: the place is free
	asked [askedWays]int64
	size  [askedWays]int64 // the size of the whole; 0: not known
}

// set returns the set of key, and its name there.
func (t *askedRanges) set(key cache.Key) (s *askedSet, name uint64) {
	return &t.sets[key.Lo%uint64(len(t.sets))], max(1, key.Hi)
}

// at returns the set of key, locked, and its place there.
func (t *askedRanges) at(key cache.Key) (s *askedSet, i int) {
	s, name := t.set(key)
	s.mu.Lock()
	for j := range s.key {
		if s.key[j] == name {
			return s, j
		}
		if s.asked[j] < s.asked[i] {
			i = j
		}
	}
	s.key[i], s.asked[i], s.size[i] = name, 0, 0
	return s, i
}

// size returns how long the whole was when it was last learned, 0 if it is not known.
func (t *askedRanges) size(key cache.Key) int64 {
	s, name := t.set(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.key[:], name); i >= 0 {
		return s.size[i]
	}
	return 0
}

// learn notes how long the whole is.
func (t *askedRanges) learn(key cache.Key, size int64) {
	s, i := t.at(key)
	defer s.mu.Unlock()
	s.size[i] = size
}

// add adds bytes that were asked for.
func (t *askedRanges) add(key cache.Key, asked int64) {
	s, i := t.at(key)
	defer s.mu.Unlock()
	s.asked[i] = plus(s.asked[i], asked)
}

// spend is add, and reports whether enough bytes have added up. Then they are spent, and begin anew.
func (t *askedRanges) spend(key cache.Key, asked, enough int64) bool {
	s, i := t.at(key)
	defer s.mu.Unlock()
	s.asked[i] = plus(s.asked[i], asked)
	if s.asked[i] < enough {
		return false
	}
	s.asked[i] = 0
	return true
}

// mostAsked keeps sums from overflowing.
const mostAsked = 1 << 61

func plus(sum, asked int64) int64 { return min(sum, mostAsked) + min(asked, mostAsked) }
