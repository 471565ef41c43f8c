package model

import "edgeproxy/internal/bloom/counting"

// mark is what a Run remembers of one object beside its place in the cache. Its halves have two owners, and are together because
// a fill needs both.
type mark struct {
	sighted uint32 // owned by exact: serial number of the newest generation with a sighting
	held    uint32 // owned by fills: that of the generation whose fill was held back, plus 1; 0: not held back
}

// exact remembers sightings without error in the marks of the objects. It is what the filters would be without false positives:
// generations that are dropped one by one, and counts that stop at the maximum of a counter.
type exact struct {
	marks []mark
	// times is nil if only the presence of an earlier sighting is needed. A generation's count is at its serial number modulo the
	// number of generations.
	times       [][4]uint8
	serial      uint32 // serial of the newest generation; its first value puts an empty mark outside the window
	generations uint32 // 1: never rotated
	keys        int64  // distinct ones in the newest generation
	capacity    int64  // 0: no bound
}

// newExact returns sets over the marks; with generations 1 they never forget.
func newExact(marks []mark, generations int, capacity int64) *exact {
	return &exact{marks: marks, serial: uint32(generations), generations: uint32(generations), capacity: capacity}
}

// newExactCounts is newExact with counts.
func newExactCounts(marks []mark, generations int, capacity int64) *exact {
	e := newExact(marks, generations, capacity)
	e.times = make([][4]uint8, len(marks))
	return e
}

// see counts a sighting and returns how many the window holds, this one
// included; without counts 2 stands for any number above 1.
func (e *exact) see(i uint32) (times int) {
	m := &e.marks[i]
	age := e.serial - m.sighted
	if age > 0 {
		e.keys++
		m.sighted = e.serial
	}
	switch {
	case e.times != nil:
		return e.count(i, age)
	case age < e.generations:
		return 2
	default:
		return 1
	}
}

// count is see for an object whose last sighting is age generations old.
func (e *exact) count(i, age uint32) (times int) {
	t := &e.times[i]
	if age >= e.generations {
		*t = [4]uint8{}
	} else {
		for g := e.serial - age + 1; g <= e.serial; g++ {
			t[g%e.generations] = 0
		}
	}
	now := &t[e.serial%e.generations]
	*now = min(*now+1, counting.Max)
	for _, n := range t {
		times += int(n)
	}
	return times
}

func (e *exact) full() bool { return e.capacity > 0 && e.keys >= e.capacity }

func (e *exact) rotate() {
	e.serial++
	e.keys = 0
}
