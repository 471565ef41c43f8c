package model

import "edgeproxy/internal/bloom/counting"

// exact remembers sightings without error, one small record for each object. It
// is what the filters would be with no false positives: generations that are
// forgotten one by one, and counts that stop at what a counter holds.
type exact struct {
	records     []record
	serial      uint32 // of the newest generation; starts so that an empty record is out of the window
	generations uint32 // 1: never rotated
	keys        int64  // distinct ones in the newest generation
	capacity    int64  // 0: as many as there are
}

// record is the sightings of one object. A generation's count is in times at its
// serial number modulo the number of generations.
type record struct {
	last  uint32 // newest generation with a sighting
	times [4]uint8
}

// newExact returns sets for so many objects; with generations 1 they never
// forget.
func newExact(objects, generations int, capacity int64) *exact {
	return &exact{
		records: make([]record, objects), serial: uint32(generations),
		generations: uint32(generations), capacity: capacity,
	}
}

// see counts a sighting and returns how many the window holds, this one
// included.
func (e *exact) see(i uint32) (times int) {
	r := &e.records[i]
	if age := e.serial - r.last; age > 0 {
		e.keys++
		if age >= e.generations {
			r.times = [4]uint8{}
		}
		for g := r.last + 1; age < e.generations && g <= e.serial; g++ {
			r.times[g%e.generations] = 0
		}
		r.last = e.serial
	}
	now := &r.times[e.serial%e.generations]
	*now = min(*now+1, counting.Max)
	for _, n := range r.times {
		times += int(n)
	}
	return times
}

func (e *exact) full() bool { return e.capacity > 0 && e.keys >= e.capacity }

func (e *exact) rotate() {
	e.serial++
	e.keys = 0
}
