package model

import (
	"cmp"
	"slices"

	"edgeproxy/internal/lab/trace"
)

// naiveTiers is two tiers said as plainly as possible: one list of records on the
// disk, and nothing that is kept up to date beside it.
type naiveTiers struct {
	s       Setting
	objects []trace.Object
	gate    *naive // decides, and has the stage

	memory naiveLRU
	asked  []uint32 // hit on the disk, oldest first

	disk  []*naiveRecord // in the order of writing
	clock int

	stays  int // segments that the hand has left for a lap
	stayed int // since the write began

	touches int // hits in memory: one of 64 counts on the disk

	bytes, again, copies int64
}

// naiveRecord is a record on the disk. Those of one segment have its number.
type naiveRecord struct {
	object  uint32
	bytes   int64
	large   bool
	segment int
	hits    int
	age     int // age of its segment, for a small one
}

func newNaiveTiers(s Setting, objects []trace.Object) *naiveTiers {
	n := &naiveTiers{s: s, objects: objects, gate: newNaive(s, objects)}
	n.memory = naiveLRU{size: n.gate.size, maxBytes: s.CapacityBytes - s.StageBytes}
	return n
}

func (n *naiveTiers) request(a trace.Access) Outcome {
	i, admit, size := a.Object, n.gate.admits(a), n.objects[a.Object].Size
	onDisk := slices.IndexFunc(n.disk, func(r *naiveRecord) bool { return r.object == i })
	inMemory := n.memory.hit(i)
	if inMemory {
		n.touches++
	}
	if onDisk >= 0 && (!inMemory || n.touches%64 == 0) {
		n.disk[onDisk].hits = min(n.disk[onDisk].hits+1, 3)
	}
	staged := slices.Index(n.gate.stage, i)
	switch {
	case inMemory:
		return Hit
	case staged >= 0 && !admit && n.s.Policy.String() != "second-hit":
		return StageHit
	case staged >= 0:
		n.gate.stage = slices.Delete(n.gate.stage, staged, staged+1)
		n.write(i)
		return Promoted
	case onDisk >= 0:
		n.consider(i)
		return DiskHit
	case a.Head:
		return HeadMiss
	case size > n.s.DiskBytes/4:
		return TooLarge
	case admit:
		n.write(i)
		return Stored
	case n.takes(i) && n.gate.stageMax >= n.gate.size(i):
		for total(n.gate.stage, n.gate.size)+n.gate.size(i) > n.gate.stageMax {
			n.gate.stage = n.gate.stage[1:]
		}
		n.gate.stage = append(n.gate.stage, i)
		return Staged
	}
	return HeldBack
}

func (n *naiveTiers) takes(i uint32) bool {
	size := n.objects[i].Size
	return size <= n.memory.maxBytes && (n.s.MaxObjectBytes == 0 || size <= n.s.MaxObjectBytes)
}

// consider copies into the memory what was hit before on the disk.
func (n *naiveTiers) consider(i uint32) {
	again := slices.Contains(n.asked[max(len(n.asked)-512, 0):], i) // 512 in a memory of up to 8 MiB
	n.asked = append(n.asked, i)
	if again && n.takes(i) && n.objects[i].Size <= 1<<20 {
		n.memory.store(i)
		n.copies++
	}
}

func (n *naiveTiers) write(i uint32) {
	size := n.objects[i].Size
	r := &naiveRecord{object: i, large: size >= 32768}
	r.bytes = (512 + size + 63) / 64 * 64
	if r.large {
		r.bytes = (512 + size + 4095) / 4096 * 4096
	}
	if size >= 65536 {
		r.bytes = 4096 + (size+4095)/4096*4096
	}
	n.stayed = 0
	for n.held()+r.bytes+n.segment()*5/8 > n.s.DiskBytes {
		n.evict()
	}
	n.put(r)
}

// segment returns the bytes of a segment: a power of two.
func (n *naiveTiers) segment() int64 {
	bytes := int64(65536)
	for 2*bytes <= n.s.DiskBytes/128 {
		bytes *= 2
	}
	return bytes
}

func (n *naiveTiers) held() (sum int64) {
	for _, r := range n.disk {
		sum += r.bytes
	}
	return sum
}

func (n *naiveTiers) small() (out []*naiveRecord) {
	for _, r := range n.disk {
		if !r.large {
			out = append(out, r)
		}
	}
	return out
}

func (n *naiveTiers) put(r *naiveRecord) {
	n.clock++
	n.bytes += r.bytes
	r.age = n.clock
	if small := n.small(); !r.large {
		r.segment, r.age = n.clock, 1<<40 // after all else, until it is full
		if len(small) > 0 {
			last := small[len(small)-1]
			filled := r.bytes
			for _, o := range small {
				if o.segment == last.segment {
					filled += o.bytes
				}
			}
			if filled <= n.segment() {
				r.segment = last.segment
			} else {
				for _, o := range small {
					if o.segment == last.segment {
						o.age = n.clock
					}
				}
			}
		}
	}
	n.disk = append(n.disk, r)
}

// evict looks at the large one, or the segment, that was looked at longest ago.
func (n *naiveTiers) evict() {
	at := slices.MinFunc(n.disk, func(a, b *naiveRecord) int { return cmp.Compare(a.age, b.age) })
	switch {
	case !at.large:
		if !n.stay(at) {
			n.drop(at.segment)
		}
	case at.hits > 0 && n.s.DiskEviction != DiskFIFO:
		at.hits = 0
		n.clock++
		at.age = n.clock
	default:
		n.remove(at)
	}
}

func (n *naiveTiers) remove(r *naiveRecord) {
	n.disk = slices.DeleteFunc(n.disk, func(o *naiveRecord) bool { return o == r })
}

// stay leaves the segment of r for a lap if two fifths of it were hit.
func (n *naiveTiers) stay(r *naiveRecord) bool {
	hit := int64(0)
	for _, o := range n.small() {
		if o.segment == r.segment && o.hits > 0 {
			hit += o.bytes
		}
	}
	if n.s.DiskEviction != DiskSIEVE || 5*hit < 2*n.segment() || r.age == 1<<40 || n.stayed == 16 {
		return false
	}
	n.stays++
	n.stayed++
	n.clock++
	for _, o := range n.small() {
		if o.segment == r.segment {
			o.hits, o.age = 0, n.clock
		}
	}
	return true
}

// drop frees a segment.
func (n *naiveTiers) drop(segment int) {
	var all []*naiveRecord
	room := int64(0)
	for _, r := range n.small() {
		if r.segment == segment {
			all = append(all, r)
			room += r.bytes
			n.remove(r)
		}
	}
	switch n.s.DiskEviction {
	case DiskFIFO:
		room = 0
	case DiskHits:
	default:
		room /= 2
	}
	slices.SortStableFunc(all, func(a, b *naiveRecord) int { return cmp.Compare(b.hits, a.hits) })
	for _, r := range all {
		if r.hits > 0 && r.bytes <= room {
			room -= r.bytes
			r.hits = 0
			n.again += r.bytes
			n.put(r)
		}
	}
}
