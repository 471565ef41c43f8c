package model

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"edgeproxy/internal/lab/trace"
)

// The layout of the disk, as docs/decisions/0076 has it.
const (
	minDiskBytes = 4 << 20

	recordHead = 512 // bytes of a record beside the body: key, facts and head of a typical response
	recordUnit = 64  // a small record ends at a multiple of this
	diskPage   = 4096
	largeFrom  = 32 << 10 // bodies of at least this size have pages of their own
	alignFrom  = 64 << 10 // bodies of at least this size begin at a page

	segmentShare = 128 // a segment is at most 1/segmentShare of the disk, and a power of two
	minSegment   = 256 << 10
	maxSegment   = 64 << 20
	// edgeproxy accepts no disk below leastDisk: here it stands for a larger one, and has shorter segments.
	leastDisk, shortSegment = 16 << 20, 64 << 10

	maxHits   = 3   // most hits counted since the hand passed, two bits
	keepShare = 0.5 // most of a dropped segment that is rewritten

	stayShare = 0.4 // least share of a segment with hits for it to stay for a lap
	stayMost  = 16  // most segments that stay while room for one record is made
)

// disk is the tier behind the memory: an append-only log with one bound of bytes. Bodies of at least 32 KiB are evicted one by
// one in place, smaller ones by the segment, whose records in demand are rewritten. A hand (CLOCK) visits what was written, or
// spared, longest ago, of both kinds: a large record, or a segment, which counts from when it was full. It evicts records that are
// not in demand, and resets the hits of the others. It spares a segment with much demand as a whole. The rule says what demand is.
type disk struct {
	rule diskRule
	*nodes
	maxBytes, segmentBytes int64
	bytes                  int64 // bytes of all records

	large  chain    // in the order in which they were written or spared
	spared []uint32 // for each large object when it was last written or spared

	small    chain
	segments []segment // segments of small records, the one written or spared longest ago first; the last is being written, and is evicted last
	stayed   int       // segments spared for the record that is being stored

	clock uint32 // goes up with each record written or spared
	left  counters

	rewrites []uint32 // room for the records that drop rewrites
}

// segment is a range of the small records, in the order in which they were written.
type segment struct {
	full    uint32 // when it was full, or last spared; unfilled for the one that is being written
	first   uint32 // index of its first record
	records int64
	bytes   int64
}

func newDisk(maxBytes int64, e DiskEviction, objects []trace.Object) *disk {
	n := newNodes(objects)
	return &disk{
		rule: newDiskRule(e, n), nodes: n, maxBytes: maxBytes, segmentBytes: segmentBytes(maxBytes),
		large: newChain(n, large), small: newChain(n, small), spared: make([]uint32, len(objects)),
	}
}

// unfilled is later than any other time.
const unfilled = math.MaxUint32

func segmentBytes(maxBytes int64) int64 {
	least := int64(minSegment)
	if maxBytes < leastDisk {
		least = shortSegment
	}
	n := uint64(max(maxBytes/segmentShare, least)) //nolint:gosec // above 0
	return min(int64(1)<<(bits.Len64(n)-1), maxSegment)
}

// reserve is how much is kept free to rewrite records before their segment is dropped.
func (d *disk) reserve() int64 { return d.segmentBytes * 5 / 8 }

// recordBytes returns the size on the disk of a record with a body of that size.
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
	d.rule.now++
	n := &d.of[i]
	if n.at == unlinked {
		return false
	}
	n.uses, n.hit = min(n.uses+1, maxHits), true
	d.rule.used(i, false)
	return true
}

// store writes an object that is not there, and that the disk has room for.
func (d *disk) store(i uint32) {
	d.stayed = 0
	for d.bytes+d.record(i) > d.maxBytes-d.reserve() {
		d.makeRoom()
	}
	d.of[i].uses, d.of[i].hit = 0, false
	d.rule.used(i, true)
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
		d.segments = append(d.segments, segment{full: unfilled, first: i})
		last++
	}
	d.segments[last].records++
	d.segments[last].bytes += bytes
	d.small.push(i)
}

// makeRoom moves the hand one step.
func (d *disk) makeRoom() {
	at := d.large.oldest
	if at == none || len(d.segments) > 0 && d.segments[0].full < d.spared[at] {
		d.lookAtSegment()
		return
	}
	d.large.remove(at)
	d.rule.visit(at)
	n := &d.of[at]
	if d.rule.demand(at) == 0 {
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
	d.visit(s)
	if s.full == unfilled || d.stayed == stayMost || !d.rule.spares() || float64(d.inDemand(s)) < stayShare*float64(d.segmentBytes) {
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

// visit notes that the hand comes by s.
func (d *disk) visit(s segment) {
	if d.rule.worth == nil {
		return
	}
	for n, i := s.records, s.first; n > 0; n-- {
		d.rule.visit(i)
		i = d.of[i].newer
	}
}

// inDemand returns the bytes of the records of s that are in demand.
func (d *disk) inDemand(s segment) (bytes int64) {
	for n, i := s.records, s.first; n > 0; n-- {
		if d.rule.demand(i) > 0 {
			bytes += d.record(i)
		}
		i = d.of[i].newer
	}
	return bytes
}

// drop frees a segment. Its records in most demand are rewritten, without their hits, as far as there is room; the others are evicted.
func (d *disk) drop(s segment) {
	d.bytes -= s.bytes
	room := int64(float64(s.bytes) * d.rule.share())
	for _, i := range d.demanded(s) {
		bytes := d.record(i)
		if bytes > room {
			continue
		}
		room -= bytes
		s.records--
		if i == s.first {
			s.first = d.of[i].newer
		}
		d.small.remove(i)
		d.of[i].uses = 0
		d.append(i)
		d.left.rewritten += bytes
	}
	for i := s.first; s.records > 0; s.records-- {
		next := d.of[i].newer
		d.small.remove(i)
		d.left.evicted(&d.of[i])
		i = next
	}
}

// demanded returns the records of s that are in demand, those in most demand first. The result is valid until the next call.
func (d *disk) demanded(s segment) []uint32 {
	d.rewrites = d.rewrites[:0]
	for n, i := s.records, s.first; n > 0; n-- {
		if d.rule.demand(i) > 0 {
			d.rewrites = append(d.rewrites, i)
		}
		i = d.of[i].newer
	}
	slices.SortStableFunc(d.rewrites, func(a, b uint32) int { return cmp.Compare(d.rule.demand(b), d.rule.demand(a)) })
	return d.rewrites
}

func (d *disk) held() (objects, bytes int64) { return d.small.count + d.large.count, d.bytes }

func (d *disk) counters() counters {
	c := d.left
	c.objects = d.small.count + d.large.count
	return c
}
