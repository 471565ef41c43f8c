package disk

import (
	"bytes"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// This file keeps the heads of records with many hits in memory, and remembers which parts of their bodies were checked. Only the index says
// whether a record is there, so nothing here has to be removed with it. Nobody looks up a place that was freed, and a place that is reused
// belongs to a segment with another number.

const (
	hotRecords   = 4096             // most records whose heads are kept
	hotHeadBytes = 4 << 10          // longest head that is kept
	hotBytes     = 8 << 20          // most bytes of all heads, with their memos
	hotOverhead  = 256              // bytes beside each head
	proofLasts   = 10 * time.Minute // how long a check of a body is valid
	stampSettles = time.Second      // once a stamp is this old, any later change gives the file another one, whatever the resolution of its clock
)

// hot is a table of heads by their places. It is safe for concurrent use.
type hot struct {
	slots [hotRecords]atomic.Pointer[known]
	bytes atomic.Int64
}

// known is a head in memory. It does not change, except for its atomics.
type known struct {
	at     index.Place
	number uint64 // number of the segment
	cost   int64
	head   layout.Head // checked, in memory of its own
	memo   atomic.Pointer[any]
	asked  atomic.Bool // asked for since another head wanted its slot
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

// keep stores the head k, whose cost is not set yet, unless its slot has another that is asked for, or there are too many bytes. It reports
// whether it did.
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
	k.cost = 2*n + hotOverhead // and its memo
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

// proof says which chunks of a body were checked, since when, and with which stamp of the file.
type proof struct {
	since  time.Time
	stamp  time.Time
	chunks []atomic.Uint64 // one bit per chunk
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

// proofOf returns the proof for the body of h at this time; nil if nothing may be remembered. Any later change of the file changes its stamp.
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

// remember keeps the head of h, which was read, if the record was hit before.
func (h *Hit) remember() {
	if h.asked == 0 {
		return
	}
	k := &known{at: h.at, number: h.seg.number}
	var err error
	if k.head, err = h.r.head.ParseHead(bytes.Clone(h.buf[:h.head.HeadBytes()]), k.number, int64(h.at.Offset)*layout.Unit); err != nil {
		return
	}
	if h.r.hot.keep(k) {
		h.known = k
	}
}

// Memo returns what SetMemo was called with for this record, and nil after a while.
func (h *Hit) Memo() any {
	if h.known != nil {
		if m := h.known.memo.Load(); m != nil {
			return *m
		}
	}
	return nil
}

// SetMemo keeps m, which the caller has derived from Block, as long as the head of the record is in memory. Several goroutines may use it at
// once. It should not be larger than the head.
func (h *Hit) SetMemo(m any) {
	if h.known != nil {
		h.known.memo.Store(&m)
	}
}
