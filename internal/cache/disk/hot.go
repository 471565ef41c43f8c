package disk

import (
	"bytes"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/index"
	"edgeproxy/internal/cache/disk/layout"
)

// This file keeps the heads of records that are asked for often, and remembers which parts of their bodies were checked. The
// index stays what says whether a record is there, so nothing here has to be dropped with it: a place that was given up is asked for no more, and one
// that is used again is in a segment of another number.

const (
	hotRecords   = 4096             // whose heads are kept, at most
	hotHeadBytes = 4 << 10          // of the longest that is kept
	hotBytes     = 8 << 20          // of all of them, with what callers make of them
	hotOverhead  = 256              // of each
	proofLasts   = 10 * time.Minute // until a body is checked again
	stampSettles = time.Second      // after which a later change of a file gives it another stamp, whatever the clock of the file system
)

// hot has heads by their places. It is safe for concurrent use.
type hot struct {
	slots [hotRecords]atomic.Pointer[known]
	bytes atomic.Int64
}

// known is a head in memory. It does not change, but for what is atomic.
type known struct {
	at     index.Place
	number uint64 // of the segment
	cost   int64
	head   layout.Head // checked, in memory of its own
	memo   atomic.Pointer[any]
	asked  atomic.Bool // since another wanted its slot
	proof  atomic.Pointer[proof]
}

func (t *hot) slot(at index.Place) *atomic.Pointer[known] {
	return &t.slots[layout.Mix(uint64(at.Segment)<<32|uint64(at.Offset))%hotRecords]
}

// find returns the head of the record at a place of a segment; nil if it is not kept.
func (t *hot) find(at index.Place, number uint64) *known {
	k := t.slot(at).Load()
	if k == nil || k.at != at || k.number != number {
		return nil
	}
	if !k.asked.Load() {
		k.asked.Store(true)
	}
	return k
}

// keep keeps a head, of which k has all but the cost, unless another that is asked for has its slot, or there are too many bytes. It reports whether it
// did.
func (t *hot) keep(k *known) bool {
	n := k.head.HeadBytes()
	if n > hotHeadBytes {
		return false
	}
	slot := t.slot(k.at)
	was := slot.Load()
	if was != nil && was.asked.Swap(false) {
		return false
	}
	k.cost = 2*n + hotOverhead // and what the caller makes of it
	more := k.cost
	if was != nil {
		more -= was.cost
	}
	if t.bytes.Add(more) > hotBytes && more > 0 || !slot.CompareAndSwap(was, k) {
		t.bytes.Add(-more)
		return false
	}
	return true
}

// proof says which chunks of a body were checked since a time, while its file had this stamp.
type proof struct {
	since  time.Time
	stamp  time.Time
	chunks []atomic.Uint64 // a bit each
}

func (p *proof) add(chunk int64) { p.chunks[chunk/64].Or(1 << (chunk % 64)) }

// has reports whether the chunks from first to last were checked.
func (p *proof) has(first, last int64) bool {
	for ; first <= last; first++ {
		if p.chunks[first/64].Load()&(1<<(first%64)) == 0 {
			return false
		}
	}
	return true
}

// proofOf returns what is known of the body of h at this time; nil where nothing may be remembered of it. What changes the file
// later changes its stamp.
func (h *Hit) proofOf(now time.Time) *proof {
	if h.known == nil {
		return nil
	}
	stamp, ok := h.seg.file.Load().Stamp()
	if !ok || now.Sub(stamp) < stampSettles {
		return nil
	}
	p := h.known.proof.Load()
	if p != nil && p.stamp.Equal(stamp) {
		if age := now.Sub(p.since); age >= 0 && age < proofLasts {
			return p
		}
	}
	chunks := (h.size + layout.ChunkBytes - 1) / layout.ChunkBytes
	p = &proof{since: now, stamp: stamp, chunks: make([]atomic.Uint64, (chunks+63)/64)}
	h.known.proof.Store(p)
	return p
}

// remember keeps the head of h, which was read, if the record was asked for before.
func (h *Hit) remember() {
	if h.asked == 0 {
		return
	}
	k := &known{at: h.at, number: h.seg.number}
	var err error
	if k.head, err = h.v.head.ParseHead(bytes.Clone(h.buf[:h.head.HeadBytes()]), k.number, int64(h.at.Offset)*layout.Unit); err != nil {
		return
	}
	if h.v.hot.keep(k) {
		h.known = k
	}
}

// Memo returns what SetMemo was given for this record, and is nil after a while.
func (h *Hit) Memo() any {
	if h.known != nil {
		if m := h.known.memo.Load(); m != nil {
			return *m
		}
	}
	return nil
}

// SetMemo has m, which the caller has made of Block, kept as long as the head of the record is in memory, if it is. It may be used by several at
// once, and should not be longer than the head.
func (h *Hit) SetMemo(m any) {
	if h.known != nil {
		h.known.memo.Store(&m)
	}
}
