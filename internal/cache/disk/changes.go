package disk

import (
	"sync/atomic"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// changes remembers by their hashes which records were put or removed, as long as the disk may say otherwise. The writer settles them: then all
// removals are durable (writer.settle).
type changes struct {
	forgot  *hashes                // hashes put or removed while the index fills, or while the directory was not in use
	missed  *hashes                // the same for the next opening
	recent  atomic.Pointer[hashes] // hashes put or removed since the writer last began to settle
	hidden  atomic.Int64           // segments that may have records that are neither in the index nor in the log
	partial atomic.Bool            // there are records, perhaps, that the index has lost or could not reach, and that a later opening may find

	// the writer's
	before *hashes // hashes put or removed before recent, while they are not settled; nil: they are
	owed   bool    // the removals of what is in forgot are not settled
}

// remove removes the records under h.
func (sh *shared) remove(h uint64) {
	sh.forgot.add(h) // before the index: an entry that is filled in later is checked here
	sh.queue.drop(h)
	sh.buryOlder(h)
	sh.changed(h)
}

// changed notes that the record under h was replaced or removed, once the writer has been told so. As long as that may not be on the disk, the next
// opening has to know it.
func (sh *shared) changed(h uint64) {
	sh.recent.Load().add(h)
	if sh.failed() {
		sh.missed.add(h)
	}
}

// buryOlder removes the records under h from the index. It reports whether there were any.
func (sh *shared) buryOlder(h uint64) (were bool) {
	var room [16]index.Place
	for _, p := range sh.index.FindAll(h, room[:0]) {
		if sh.index.Remove(h, p) {
			sh.buried(p)
			were = true
		}
	}
	return were
}

// replace is buryOlder for a record that the writer is about to write. While the index fills, forgot has its hash.
func (sh *shared) replace(h uint64) {
	if sh.buryOlder(h) || sh.hidden.Load() > 0 {
		sh.changed(h)
	}
}

// buried notes that the record at p is no longer in the index.
func (sh *shared) buried(p index.Place) {
	if s := sh.segments.slots[p.Segment].Load(); s != nil && !sh.readOnly {
		sh.queue.addDead(deadRecord{segment: s, offset: int64(p.Offset) * layout.Unit})
	}
}

// lost counts a record that the full index has pushed out.
func (sh *shared) lost(index.Place) { // the hand finds its bytes, or the next start
	sh.counts.lost.Add(1)
	sh.partial.Store(true)
}

// unsettled returns to the next opening what may not be on the disk.
func (c *changes) unsettled() {
	c.missed.merge(c.recent.Load())
	if c.before != nil {
		c.missed.merge(c.before)
	}
	if c.owed {
		c.missed.merge(c.forgot)
	}
}

// hashes is a Bloom filter with one hash function: a set that may report hashes that were not added, one in 80 with 100,000 added. Its size is
// fixed. It is safe for concurrent use. Nil is the empty set.
type hashes struct {
	done atomic.Bool
	some atomic.Bool // set before the first bit is
	bits []atomic.Uint64
}

const hashBits = 23

func newHashes() *hashes { return &hashes{bits: make([]atomic.Uint64, 1<<hashBits/64)} }

func (s *hashes) add(h uint64) {
	if s.done.Load() {
		return
	}
	i := h >> (64 - hashBits)
	if word := &s.bits[i/64]; word.Load()&(1<<(i%64)) == 0 {
		s.filling()
		word.Or(1 << (i % 64))
	}
}

func (s *hashes) filling() {
	if !s.some.Load() {
		s.some.Store(true)
	}
}

// merge adds all of other.
func (s *hashes) merge(other *hashes) {
	if other.empty() {
		return
	}
	for i := range other.bits {
		if more := other.bits[i].Load(); more != 0 {
			s.filling()
			s.bits[i].Or(more)
		}
	}
}

// empty reports that nothing was added. The writer asks every settleAfter, so it does not look at the bits.
func (s *hashes) empty() bool { return !s.some.Load() }

func (s *hashes) has(h uint64) bool {
	i := h >> (64 - hashBits)
	return s.bits[i/64].Load()&(1<<(i%64)) != 0
}
