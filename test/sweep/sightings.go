package main

// sightings remembers how often each object was asked for, in two generations:
// exactly what the filters would be without errors.
type sightings struct {
	newest, older []uint8 // by object
	touched       [2][]uint32
	count, keys   int64 // in the newest generation: all, and distinct objects
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

// rotate forgets the older generation and begins a new one.
func (s *sightings) rotate() {
	for _, i := range s.touched[1] {
		s.older[i] = 0
	}
	s.newest, s.older = s.older, s.newest
	s.touched[0], s.touched[1] = s.touched[1][:0], s.touched[0]
	s.count, s.keys = 0, 0
}
