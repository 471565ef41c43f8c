package disk

import (
	"slices"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// Shares of a segment.
const (
	rewriteShare = 0.5  // so much may be rewritten when a segment of small records leaves
	sparseShare  = 0.03 // if less of a segment of large records is left, it is rewritten
	crowdedShare = 0.15 // the same if there are crowdedTimes as many segments as full ones would fit, or half of the slots are taken
)

const crowdedTimes = 3

// evictor makes room for records. Only the writer uses it.
type evictor struct {
	appenders
	hand   hand
	stayed int // segments of small records that stayed since makeRoom began
}

// reserve is how many bytes of the limit are kept free to rewrite records before their segment leaves.
func (w *evictor) reserve() int64 { return w.head.SegmentBytes * 5 / 8 }

// makeRoom evicts until n more bytes fit.
func (w *evictor) makeRoom(n int64) error {
	w.stayed = 0
	n += 2*layout.Page + layout.FooterBytes(1) // for a segment that may have to be begun
	for tries := 0; ; tries++ {
		over, segments := w.segments.over(n + w.reserve())
		if over <= 0 {
			return nil
		}
		if segments == 0 || tries > 5*(segments+1) || w.failed() {
			if w.sealForRoom() {
				continue
			}
			return errNoRoom
		}
		w.evict(over)
	}
}

// sealForRoom seals the open segments, so that they can be evicted: in a cache that has no others.
func (w *evictor) sealForRoom() bool {
	sealed := w.endIdle()
	for _, kind := range []layout.Kind{layout.Small, layout.Large} {
		if a := w.open[kind-1]; a != nil && a.records() > 0 && !w.failed() {
			sealed = w.seal(kind) == nil || sealed
		}
	}
	return sealed
}

// evict takes one step: the segment visited longest ago is evicted, or the hand passes over it.
func (w *evictor) evict(over int64) {
	small, large := w.segments.oldest()
	switch {
	case large != nil && (small == nil || large.visited < small.visited):
		w.sweep(large, over)
	case small != nil:
		w.drop(small)
	}
}

// drop evicts a segment and rewrites its records with hits; or it lets the segment stay for a lap.
func (w *evictor) drop(s *segment) {
	w.loader.fillIn(s)
	w.hidden.Add(1)             // until its file is gone: of a record that is evicted and then replaced, nothing is logged
	if !w.segments.isSmall(s) { // it turned out to have large records, or to be foreign
		w.hidden.Add(-1)
		return
	}
	entries, err := w.entriesOf(s)
	if err == nil {
		l := w.takeHits(s, entries)
		if w.stays(l) {
			w.hidden.Add(-1)
			w.stay(s)
			return
		}
		w.rewrite(s, w.chosen(s, l))
	}
	w.unlink(s)
	w.hidden.Add(-1)
}

// chosen returns the records of s to rewrite: those with the most hits, as far as rewriteShare allows. It removes the others from the
// index.
func (w *evictor) chosen(s *segment, l lap) []layout.Entry {
	w.counts.evictedAfter(w.o.Now().Sub(s.seen))
	w.evictAll(s, l.cold, true)
	w.evictAll(s, l.neverHit, false)
	budget := int64(rewriteShare * float64(w.head.SegmentBytes))
	var chosen []layout.Entry
	for _, class := range [][]layout.Entry{l.wanted[3], l.wanted[2], l.wanted[1]} {
		for _, e := range class {
			if budget -= e.Bytes + layout.EntryBytes; budget >= 0 {
				chosen = append(chosen, e)
			} else if w.index.Remove(e.Hash, place(s.number, e.Offset, e.Bytes)) {
				w.counts.evictedInDemand(e.Bytes, s.kind)
			}
		}
	}
	slices.SortFunc(chosen, byOffset)
	return chosen
}

// evictAll evicts records of s. Hit says whether they were ever hit.
func (w *evictor) evictAll(s *segment, entries []layout.Entry, hit bool) {
	for _, e := range entries {
		if w.index.Remove(e.Hash, place(s.number, e.Offset, e.Bytes)) {
			w.counts.evicted(e.Bytes, s.kind, hit)
		}
	}
}

// rewrite writes records of s to another segment. A record that cannot be read is lost.
func (w *evictor) rewrite(s *segment, entries []layout.Entry) {
	var b []byte
	touched := false
	for _, e := range entries {
		from := place(s.number, e.Offset, e.Bytes)
		b = slices.Grow(b[:0], int(e.Bytes))[:e.Bytes]
		err := w.call(func() error { _, err := s.file.Load().ReadAt(b, e.Offset); return err })
		var head layout.Head
		if err == nil {
			head, err = w.head.ParseHead(b, s.number, e.Offset)
		}
		if err != nil || head.BodyAt+head.BodyBytes > e.Bytes || !head.Check(b[head.BodyAt:][:head.BodyBytes], 0) {
			if w.index.Remove(e.Hash, from) {
				w.counts.damaged.Add(1)
			}
			continue
		}
		r := layout.Record{Hash: head.Hash, Serial: head.Serial, Key: head.Key, Block: head.Block, Body: b[head.BodyAt:][:head.BodyBytes]}
		if w.store(&r, w.fold(&r, head.Shape, from), pendingRecord{from: from}) == nil {
			w.counts.rewrote(e.Bytes)
			touched = true
		}
	}
	if a := w.open[s.kind-1]; touched && a != nil {
		_ = w.flush(a) // before their old places go
	}
}

// fold applies the Patch of the record at from to its block. It returns the new shape of the record.
func (w *evictor) fold(r *layout.Record, shape layout.Shape, from index.Place) layout.Shape {
	p, ok := w.patches.find(from, r.Serial)
	if !ok || w.o.Fold == nil {
		return shape
	}
	block := w.o.Fold(r.Block, p)
	if block == nil {
		return shape
	}
	folded, err := layout.ShapeOf(len(r.Key), len(block), int64(len(r.Body)))
	if err != nil || folded.Bytes > max(shape.Bytes, w.head.SegmentBytes/4) {
		return shape
	}
	r.Block = block
	return folded
}

// hand passes over the segments of large records, always to the one visited longest ago.
type hand struct {
	seg     *segment
	entries []layout.Entry
	at      int
}

// sweep moves the hand over s until over bytes are free or s is done.
func (w *evictor) sweep(s *segment, over int64) {
	h := &w.hand
	if h.seg != s {
		w.loader.fillIn(s)
		entries, err := w.entriesOf(s)
		if err != nil {
			w.unlink(s)
			return
		}
		*h = hand{seg: s, entries: entries}
	}
	w.counts.evictedAfter(w.o.Now().Sub(s.seen))
	var out []freeing
	for ; h.at < len(h.entries) && over > 0; h.at++ {
		e := h.entries[h.at]
		if s.punched(e.Offset) {
			continue
		}
		p := place(s.number, e.Offset, e.Bytes)
		switch had, ok := w.coolAll(e.Hash, p); {
		case ok && had > 0:
			s.asked.set(h.at)
			continue
		case ok && w.index.Remove(e.Hash, p):
			w.counts.evicted(e.Bytes, s.kind, s.asked.has(h.at))
		}
		over -= e.Bytes
		out = append(out, freeing{seg: s, offset: e.Offset, bytes: e.Bytes})
	}
	w.free(out)
	if !w.punches.Load() { // it has just turned out: s is among the small ones now
		w.hand = hand{}
		return
	}
	if h.at == len(h.entries) {
		w.leave(s)
	}
}

// leave ends the hand's pass over s.
func (w *evictor) leave(s *segment) {
	entries := w.hand.entries
	w.hand = hand{}
	s.seen = w.o.Now()
	w.segments.passed(s)
	if w.unlinkEmpty(s) || !w.segments.isSparse(s) {
		return
	}
	var rest []layout.Entry
	for _, e := range entries {
		if _, ok := w.index.Hits(e.Hash, place(s.number, e.Offset, e.Bytes)); ok {
			rest = append(rest, e)
		}
	}
	w.rewrite(s, rest)
	w.unlink(s)
}

// coolAll resets the hits of a record. Taking one hit at a time would keep records that were hot and are not any more.
func (w *evictor) coolAll(h uint64, p index.Place) (had int, ok bool) {
	had, ok = w.index.Cool(h, p)
	for n := had; ok && n > 1; n-- {
		w.index.Cool(h, p)
	}
	return had, ok
}
