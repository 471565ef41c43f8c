package main

import "edgeproxy/internal/fit"

// sightings remembers how often each object was asked for, in two generations:
// exactly what the filters would be without errors.
type sightings struct {
	newest, older []uint8 // by object
	touched       [2][]uint32
	count, keys   int64 // in the newest generation: all, and distinct objects
	look          int64 // the count at which over compares the keys
}

func newSightings(objects int) *sightings {
	return &sightings{newest: make([]uint8, objects), older: make([]uint8, objects)}
}

// most is as far as a counter of the proxy's counts.
const most = 15

// see counts one and returns how many are remembered, this one included.
func (s *sightings) see(i uint32) int {
	s.count++
	if s.newest[i] == 0 {
		s.keys++
		s.touched[0] = append(s.touched[0], i)
	}
	s.newest[i] = min(s.newest[i]+1, most)
	return int(s.newest[i]) + int(s.older[i])
}

// over reports whether the newest generation has the length for a tier of so many objects.
func (s *sightings) over(l fit.Length, objects int64) bool {
	sightings := l.Sightings(objects)
	switch {
	case s.keys >= l.Room(sightings):
		return true
	case s.count < max(sightings, s.look):
		return false
	}
	more := l.More(sightings, s.keys)
	s.look = s.count + more
	return more == 0
}

// rotate forgets the older generation and begins a new one.
func (s *sightings) rotate() {
	for _, i := range s.touched[1] {
		s.older[i] = 0
	}
	s.newest, s.older = s.older, s.newest
	s.touched[0], s.touched[1] = s.touched[1][:0], s.touched[0]
	s.count, s.keys, s.look = 0, 0, 0
}
