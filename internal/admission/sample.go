package admission

import (
	"sync/atomic"

	"edgeproxy/internal/bloom"
)

// A key is in the sample if the highest bits of lo are 0: firstBits of them at first, lastBits at most. The filters
// take the block from hi and the cells in it from the low 40 bits of lo. So whether a key is sampled says nothing about
// its cells, and the sample is fair.
const (
	firstBits = 8
	lastBits  = 24
	hashBits  = 64
)

// mayBeSampled is a fast check: it excludes 255 of 256 keys.
func mayBeSampled(lo uint64) bool { return lo>>(hashBits-firstBits) == 0 }

// serials has the serial numbers of a filter's generations: each new one has the number of the one before, plus one.
// Both numbers only grow.
type serials interface {
	Held() (oldest, newest uint64)
}

// sample keeps exact sightings of a part of the key space beside a filter, and detects errors of the filter. It needs
// no clock: time is the serial number of the generation.
//
// A sighting runs begin, then the filter's own call, then end. begin and end
// note the generations held, as (oldest, newest): o1, n1 and o2, n2. They lock
// the key's shard, so all begins and ends of a key have one order, and what one
// writes the next reads. Of the completed sightings of a key it is enough to
// keep two numbers:
//
//   - from, the largest n1. A call takes its master from a window published at
//     the time of its begin or later, so it records in generation from or later.
//   - upto, the largest n2. The array a call writes to is, when it returns, one
//     of a published generation, at most n2. A call held up for G-1 rotations
//     (n2-n1 >= G-1) may also meet the array that is being cleared, which will be
//     generation n2+1; for it upto is one more.
//
// False positive. The filter says seen, and
//
//	(1) no other sighting of the key was under way between begin and end,
//	(2) upto < o1: all completed ones are in generations older than o1.
//
// The window that the call read was published at the time of its begin or
// later, so it held nothing older than o1, and by (2) no completed sighting was
// in it; by (1) no unfinished one was either, since a call that records has begun
// before and ended after. So the key was unseen and the filter wrong. (1) and
// (2) do not depend on the answer, so the share of wrong answers among all
// sightings with (1) and (2) is the rate sought. Keys sighted before the sample
// began to keep them are unknown to it: it also asks that (3) o1 is a generation
// begun since.
//
// False negative. The filter says unseen, and a sighting that ended before begin
// has from >= o2. It recorded in a generation s >= from. Generation s was newest
// before this call read its window, hence in that window or older than it; and
// at end still none older than o2 <= s had gone. So s was in the window from
// before the earlier sighting recorded until after this one asked, its array was
// not cleared in between, and its bits must have been found. The filter was
// wrong, whatever else went on.
//
// For a counting filter more must hold. A sighting that overlapped no other one of its key, with n1 = n2, is in
// generation n1 for certain. The estimate must include those of generations >= o2 that ended before begin, and this one
// if it qualifies itself, up to what a generation can count. Overlapping sightings may count as one, so they are
// excluded here.
//
// The memory is fixed. Keys not sighted within the window are dropped. If there are still too many, the part of the key
// space is halved for good: a key outside is never judged again, which does not bias the others. So the sample never
// forgets a sighting that it relies on.
type sample struct {
	serials serials
	late    uint64 // G-1
	reach   int    // how far a generation counts; 0: the filter says seen or not
	since   uint64 // first generation of which the sample knows all sightings

	bits   atomic.Uint32 // how many bits of lo must be 0; only grows; hashBits: the sample has given up
	shards []shard

	unseen, falsePositives, falseNegatives atomic.Int64

	stride   atomic.Int64  // keys of the whole key space between two calls of settle
	due      chan struct{} // receives when settle is to be called
	accuracy accuracy
}

// sighting is a sighting in progress, as begin found things. The zero value is not sampled.
type sighting struct {
	sampled        bool
	alone          bool   // no other one of the key was in progress
	number         uint64 // number of the begin, by key
	oldest, newest uint64 // held at begin: o1, n1
	past           keyHistory
}

const (
	// entriesPerKey is the size of the table in keys that the slice is expected
	// to have in a window of full generations.
	entriesPerKey = 2

	// resizes is how many times larger a filter may become before the slice of a
	// sample beside it has to be smaller.
	resizes = 4

	minEntries = 1 << 10
	maxEntries = 1 << 16
)

// newSample returns a sample beside the filter f of size o; reach is how far one generation counts, 0 if it does not. A
// restored filter knows keys that the sample does not.
func newSample(f serials, o bloom.Options, reach int, restored bool) *sample {
	s := &sample{
		serials: f, late: uint64(o.Generations - 1), reach: reach,
		due: make(chan struct{}, 1),
	}
	s.pace(o.Capacity)
	if restored {
		_, newest := f.Held()
		s.since = newest + 1
	}
	s.bits.Store(firstBits)
	keys := o.Capacity>>firstBits*int64(o.Generations) + 1
	if o.Resizable {
		keys *= resizes
	}
	s.shards = newShards(min(max(keys*entriesPerKey, minEntries), maxEntries))
	return s
}

// covers reports whether the key is in the sample.
func (s *sample) covers(lo uint64) bool { return inSlice(lo, s.bits.Load()) }

func inSlice(lo uint64, bits uint32) bool { return bits < hashBits && lo>>(hashBits-bits) == 0 }

// Call begin before the filter, and end after it with the result of begin. Neither allocates.
func (s *sample) begin(hi, lo uint64) sighting {
	t := sighting{}
	t.oldest, t.newest = s.serials.Held()
	sh := s.shard(hi)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := s.placeLocked(sh, hi, lo, t.oldest)
	if e == nil {
		return t
	}
	e.begun++
	t.sampled, t.alone, t.number, t.past = true, e.active == 0, e.begun, e.past
	e.active++
	return t
}

// placeLocked returns the entry of a key, and makes one if there is none. It returns nil if the key is not in the
// sample, perhaps because the sample has just been halved for lack of room.
func (s *sample) placeLocked(sh *shard, hi, lo, oldest uint64) *entry {
	for bits := s.bits.Load(); inSlice(lo, bits); bits = s.bits.Load() {
		if e := sh.findLocked(hi, lo); e != nil {
			return e
		}
		if sh.roomLocked(oldest, bits) {
			return sh.insertLocked(hi, lo)
		}
		next := bits + 1
		if next > lastBits {
			next = hashBits // the filters use the bits below
		}
		s.bits.CompareAndSwap(bits, next)
	}
	return nil
}

// end takes the filter's answer: how often the window had the key, this sighting included. A filter that does not count
// answers 2 or 1.
func (s *sample) end(t sighting, hi, lo uint64, count int) {
	if !t.sampled {
		return
	}
	oldest, newest := s.serials.Held()
	alone := s.record(t, hi, lo, newest)
	if !s.covers(lo) {
		return // the sample was halved since begin, and no longer has the key
	}
	if count < t.past.atLeast(oldest, s.reach, t.own(alone, newest)) {
		s.falseNegatives.Add(1)
	}
	if !alone || t.past.upto >= t.oldest || t.oldest < s.since {
		return
	}
	if s.unseen.Add(1)%s.settleEvery() == 0 {
		select {
		case s.due <- struct{}{}:
		default: // one pending signal is enough
		}
	}
	if count > 1 {
		s.falsePositives.Add(1)
	}
}

// record records the end of the sighting and reports whether it overlapped no other.
func (s *sample) record(t sighting, hi, lo, newest uint64) (alone bool) {
	sh := s.shard(hi)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.findLocked(hi, lo) // never dropped while a sighting is in progress
	e.active--
	alone = t.alone && e.begun == t.number
	upto := newest
	if newest-t.newest >= s.late {
		upto++
	}
	e.past.add(t.newest, upto)
	if g := t.own(alone, newest); g != 0 {
		e.past.count(g)
	}
	return alone
}

// own returns the generation that the sighting is certainly in, if it is known and the sighting overlapped no other,
// else 0.
func (t sighting) own(alone bool, newest uint64) uint64 {
	if alone && t.newest == newest {
		return newest
	}
	return 0
}
