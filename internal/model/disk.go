package model

import (
	"math"
	"math/bits"
	"slices"

	"edgeproxy/internal/trace"
)

// The layout of the disk, as docs/decisions/0076 has it.
const (
	minDiskBytes = 4 << 20

	recordHead = 512 // bytes of a record beside the body: key, facts and head of a usual response
	recordUnit = 64  // a small record ends at a multiple of this
	diskPage   = 4096
	largeFrom  = 32 << 10 // bodies from here on lie in pages of their own
	alignFrom  = 64 << 10 // and from here on begin at a page

	segmentShare = 128 // a segment is at most this part of the disk, and a power of two
	minSegment   = 256 << 10
	maxSegment   = 64 << 20
	// A disk below leastDisk is none that edgeproxy takes: it stands for a larger one, and has shorter segments.
	leastDisk, shortSegment = 16 << 20, 64 << 10

	maxHits   = 3 // counted of a record since the hand came by, two bits
	keepShare = 2 // of a dropped segment at most 1/keepShare is written again

	stayShare = 0.4 // of a segment in demand, from which on it stays for a lap
	stayMost  = 16  // segments that may stay for the room of one record
)

// disk is the tier behind the memory: an append-only log under one bound of bytes.
// Bodies from 32 KiB on are evicted one by one where they lie, smaller ones by the
// segment, of which those that were hit are written once more. A hand looks at what
// was written, or spared, longest ago, of both kinds: at a large record or at a segment, which counts from when it was
// full. It evicts what was not hit, and takes the hits from what was. A segment of which
// much was hit it spares as a whole.
type disk struct {
	*nodes
	maxBytes, segmentBytes int64
	bytes                  int64 // of all records

	large  chain    // in the order of writing or sparing
	spared []uint32 // of a large one: when it was written or spared last

	small    chain
	segments []segment // of the small ones, that first which was written or spared longest ago; the last is being written, and goes after all else
	stayed   int       // of them for the record that is being stored

	clock uint32 // goes up with each record written or spared
	left  counters
}

// segment is a run of the small ones, which are in the order of writing.
type segment struct {
	full    uint32 // when it was, or was spared last; never of the one that is being written
	first   uint32 // of its records
	records int64
	bytes   int64
}

func newDisk(maxBytes int64, objects []trace.Object) *disk {
	n := newNodes(objects)
	return &disk{
		nodes: n, maxBytes: maxBytes, segmentBytes: segmentBytes(maxBytes),
		large: newChain(n, large), small: newChain(n, small), spared: make([]uint32, len(objects)),
	}
}

// never is later than all else.
const never = math.MaxUint32

func segmentBytes(maxBytes int64) int64 {
	least := int64(minSegment)
	if maxBytes < leastDisk {
		least = shortSegment
	}
	n := uint64(max(maxBytes/segmentShare, least)) //nolint:gosec // above 0
	return min(int64(1)<<(bits.Len64(n)-1), maxSegment)
}

// reserve is how much is kept free for what is written again before its segment goes.
func (d *disk) reserve() int64 { return d.segmentBytes * 5 / 8 }

// recordBytes returns what a body of that size takes on the disk.
func recordBytes(body int64) int64 {
	switch {
	case body < largeFrom:
		return roundUp(recordHead+body, recordUnit)
	case body < alignFrom:
		return roundUp(recordHead+body, diskPage)
	default:
		return roundUp(recordHead, diskPage) + roundUp(body, diskPage)
	}
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

func (d *disk) record(i uint32) int64 { return recordBytes(d.objects[i].Size) }

func (d *disk) isLarge(i uint32) bool { return d.objects[i].Size >= largeFrom }

// hit reports whether object i is there, and counts its use.
func (d *disk) hit(i uint32) bool {
	n := &d.of[i]
	if n.at == unlinked {
		return false
	}
	n.uses, n.hit = min(n.uses+1, maxHits), true
	return true
}

// store writes an object that is not there, and that the disk has room for.
func (d *disk) store(i uint32) {
	d.stayed = 0
	for d.bytes+d.record(i) > d.maxBytes-d.reserve() {
		d.makeRoom()
	}
	d.of[i].uses, d.of[i].hit = 0, false
	d.append(i)
}

// append writes the record of i at the end of the log of its kind.
func (d *disk) append(i uint32) {
	bytes := d.record(i)
	d.clock++
	d.bytes += bytes
	d.left.diskBytes += bytes
	if d.isLarge(i) {
		d.spared[i] = d.clock
		d.large.push(i)
		return
	}
	last := len(d.segments) - 1
	if last < 0 || d.segments[last].bytes+bytes > d.segmentBytes {
		if last >= 0 {
			d.segments[last].full = d.clock
		}
		d.segments = append(d.segments, segment{full: never, first: i})
		last++
	}
	d.segments[last].records++
	d.segments[last].bytes += bytes
	d.small.push(i)
}

// makeRoom takes one step of the hand.
func (d *disk) makeRoom() {
	at := d.large.oldest
	if at == none || len(d.segments) > 0 && d.segments[0].full < d.spared[at] {
		d.lookAtSegment()
		return
	}
	d.large.remove(at)
	n := &d.of[at]
	if n.uses == 0 {
		d.bytes -= d.record(at)
		d.left.evicted(n)
		return
	}
	n.uses = 0
	d.clock++
	d.spared[at] = d.clock
	d.large.push(at)
}

// lookAtSegment spares the oldest segment, or drops it.
func (d *disk) lookAtSegment() {
	s := d.segments[0]
	d.segments = d.segments[:copy(d.segments, d.segments[1:])]
	if s.full == never || d.stayed == stayMost || float64(d.inDemand(s)) < stayShare*float64(d.segmentBytes) {
		d.drop(s)
		return
	}
	d.stayed++
	for n, i := s.records, s.first; n > 0; n-- {
		d.of[i].uses = 0
		i = d.of[i].newer
	}
	d.clock++
	s.full = d.clock
	d.segments = slices.Insert(d.segments, len(d.segments)-1, s)
}

// inDemand returns the bytes of those records of s that were hit.
func (d *disk) inDemand(s segment) (bytes int64) {
	for n, i := s.records, s.first; n > 0; n-- {
		if d.of[i].uses > 0 {
			bytes += d.record(i)
		}
		i = d.of[i].newer
	}
	return bytes
}

// drop frees a segment. Of its records those with the most hits are
// written again, up to half of its bytes, without their hits; the others are evicted.
func (d *disk) drop(s segment) {
	d.bytes -= s.bytes
	room := s.bytes / keepShare
	for hits := uint8(maxHits); hits > 0; hits-- {
		i := s.first
		for range s.records {
			next, n := d.of[i].newer, &d.of[i]
			if bytes := d.record(i); n.uses == hits && bytes <= room {
				room -= bytes
				s.records--
				if i == s.first {
					s.first = next
				}
				d.small.remove(i)
				n.uses = 0
				d.append(i)
				d.left.rewritten += bytes
			}
			i = next
		}
	}
	for i := s.first; s.records > 0; s.records-- {
		next := d.of[i].newer
		d.small.remove(i)
		d.left.evicted(&d.of[i])
		i = next
	}
}

func (d *disk) counters() counters {
	c := d.left
	c.objects = d.small.count + d.large.count
	return c
}
