package disk

import (
	"slices"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// Shares of a segment.
const (
	rewriteShare = 0.5  // of it may be rewritten when a segment of small records leaves
	sparseShare  = 0.03 // if less of a segment of large records is left, it is rewritten
	crowdedShare = 0.15 // the same if there are crowdedTimes as many segments as full ones would fit, or half of the slots are taken
)

const crowdedTimes = 3

// reserve is how many bytes of the limit are kept free to rewrite records before their segment leaves.
func (v *volume) reserve() int64 { return v.head.SegmentBytes * 5 / 8 }

// makeRoom evicts until n more bytes fit.
func (v *volume) makeRoom(n int64) error {
	v.stayed = 0
	n += 2*layout.Page + layout.FooterBytes(1) // for a segment that may have to be begun
	for tries := 0; ; tries++ {
		v.mu.Lock()
		over := v.used + n + v.reserve() - v.limit
		segments := len(v.small) + len(v.large)
		v.mu.Unlock()
		if over <= 0 {
			return nil
		}
		if segments == 0 || tries > 5*(segments+1) || v.failed() {
			if v.sealForRoom() {
				continue
			}
			return errNoRoom
		}
		v.evict(over)
	}
}

// sealForRoom seals the open segments, so that they can be evicted: in a cache that has no others.
func (v *volume) sealForRoom() bool {
	sealed := v.endIdle()
	for _, kind := range []layout.Kind{layout.Small, layout.Large} {
		if a := v.open[kind-1]; a != nil && a.records() > 0 && !v.failed() {
			sealed = v.seal(kind) == nil || sealed
		}
	}
	return sealed
}

// evict takes one step: the segment visited longest ago is evicted, or the hand passes over it.
func (v *volume) evict(over int64) {
	v.mu.Lock()
	small, large := oldest(v.small), oldest(v.large)
	v.mu.Unlock()
	switch {
	case large != nil && (small == nil || large.visited < small.visited):
		v.sweep(large, over)
	case small != nil:
		v.drop(small)
	}
}

func oldest(all []*segment) *segment {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// drop evicts a segment and rewrites its records with hits; or it lets the segment stay for a lap.
func (v *volume) drop(s *segment) {
	v.fillIn(s)
	v.hidden.Add(1) // until its file is gone: of a record that is evicted and then replaced, nothing is logged
	v.mu.Lock()
	other := !slices.Contains(v.small, s)
	v.mu.Unlock()
	if other { // it turned out to have large records, or to be foreign
		v.hidden.Add(-1)
		return
	}
	entries, err := v.entriesOf(s)
	if err == nil {
		l := v.takeHits(s, entries)
		if v.stays(l) {
			v.hidden.Add(-1)
			v.stay(s)
			return
		}
		v.rewrite(s, v.chosen(s, l))
	}
	v.unlink(s)
	v.hidden.Add(-1)
}

// chosen returns the records of s to rewrite: those with the most hits, as far as rewriteShare allows. It removes the others from the
// index.
func (v *volume) chosen(s *segment, l lap) []layout.Entry {
	v.counts.evictedAfter(v.o.Now().Sub(s.seen))
	v.evictAll(s, l.cold, true)
	v.evictAll(s, l.neverHit, false)
	budget := int64(rewriteShare * float64(v.head.SegmentBytes))
	var chosen []layout.Entry
	for _, class := range [][]layout.Entry{l.wanted[3], l.wanted[2], l.wanted[1]} {
		for _, e := range class {
			if budget -= e.Bytes + layout.EntryBytes; budget >= 0 {
				chosen = append(chosen, e)
			} else if v.index.Remove(e.Hash, place(s.number, e.Offset, e.Bytes)) {
				v.counts.evictedInDemand(e.Bytes, s.kind)
			}
		}
	}
	slices.SortFunc(chosen, byOffset)
	return chosen
}

// evictAll evicts records of s. Hit says whether they were ever hit.
func (v *volume) evictAll(s *segment, entries []layout.Entry, hit bool) {
	for _, e := range entries {
		if v.index.Remove(e.Hash, place(s.number, e.Offset, e.Bytes)) {
			v.counts.evicted(e.Bytes, s.kind, hit)
		}
	}
}

// rewrite writes records of s to another segment. A record that cannot be read is lost.
func (v *volume) rewrite(s *segment, entries []layout.Entry) {
	var b []byte
	touched := false
	for _, e := range entries {
		from := place(s.number, e.Offset, e.Bytes)
		b = slices.Grow(b[:0], int(e.Bytes))[:e.Bytes]
		err := v.call(func() error { _, err := s.file.Load().ReadAt(b, e.Offset); return err })
		var head layout.Head
		if err == nil {
			head, err = v.head.ParseHead(b, s.number, e.Offset)
		}
		if err != nil || head.BodyAt+head.BodyBytes > e.Bytes || !head.Check(b[head.BodyAt:][:head.BodyBytes], 0) {
			if v.index.Remove(e.Hash, from) {
				v.counts.damaged.Add(1)
			}
			continue
		}
		r := layout.Record{Hash: head.Hash, Serial: head.Serial, Key: head.Key, Block: head.Block, Body: b[head.BodyAt:][:head.BodyBytes]}
		if v.store(&r, v.fold(&r, head.Shape, from), pendingRecord{from: from}) == nil {
			v.counts.rewrote(e.Bytes)
			touched = true
		}
	}
	if a := v.open[s.kind-1]; touched && a != nil {
		_ = v.flush(a) // before their old places go
	}
}

// fold applies the Patch of the record at from to its block. It returns the new shape of the record.
func (v *volume) fold(r *layout.Record, shape layout.Shape, from index.Place) layout.Shape {
	p, ok := v.patches.find(from, r.Serial)
	if !ok || v.o.Fold == nil {
		return shape
	}
	block := v.o.Fold(r.Block, p)
	if block == nil {
		return shape
	}
	folded, err := layout.ShapeOf(len(r.Key), len(block), int64(len(r.Body)))
	if err != nil || folded.Bytes > max(shape.Bytes, v.head.SegmentBytes/4) {
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
func (v *volume) sweep(s *segment, over int64) {
	h := &v.hand
	if h.seg != s {
		v.fillIn(s)
		entries, err := v.entriesOf(s)
		if err != nil {
			v.unlink(s)
			return
		}
		*h = hand{seg: s, entries: entries}
	}
	v.counts.evictedAfter(v.o.Now().Sub(s.seen))
	var out []freeing
	for ; h.at < len(h.entries) && over > 0; h.at++ {
		e := h.entries[h.at]
		if s.punched(e.Offset) {
			continue
		}
		p := place(s.number, e.Offset, e.Bytes)
		switch had, ok := v.coolAll(e.Hash, p); {
		case ok && had > 0:
			s.asked.set(h.at)
			continue
		case ok && v.index.Remove(e.Hash, p):
			v.counts.evicted(e.Bytes, s.kind, s.asked.has(h.at))
		}
		over -= e.Bytes
		out = append(out, freeing{seg: s, offset: e.Offset, bytes: e.Bytes})
	}
	v.free(out)
	if h.at == len(h.entries) {
		v.leave(s)
	}
}

// leave ends the hand's pass over s.
func (v *volume) leave(s *segment) {
	entries := v.hand.entries
	v.hand = hand{}
	s.seen = v.o.Now()
	v.mu.Lock()
	s.visited = v.written
	v.large = append(without(v.large, s), s)
	left, length, sparse := s.length-s.freed, s.length, v.sparseLocked()
	v.mu.Unlock()
	if v.unlinkEmpty(s) || float64(left) > sparse*float64(length) {
		return
	}
	var rest []layout.Entry
	for _, e := range entries {
		if _, ok := v.index.Hits(e.Hash, place(s.number, e.Offset, e.Bytes)); ok {
			rest = append(rest, e)
		}
	}
	v.rewrite(s, rest)
	v.unlink(s)
}

// sparseLocked returns the share of a segment of large records below which the rest of it is rewritten. Records with hits stay for long,
// and rewriting them early costs more than a file with holes does. Such a file costs only a descriptor and a slot.
func (v *volume) sparseLocked() float64 {
	if int64(v.segments) > crowdedTimes*(v.o.MaxBytes/v.head.SegmentBytes) || v.segments > slotCount/2 {
		return crowdedShare
	}
	return sparseShare
}

// coolAll resets the hits of a record. Taking one hit at a time would keep records that were hot and are not any more.
func (v *volume) coolAll(h uint64, p index.Place) (had int, ok bool) {
	had, ok = v.index.Cool(h, p)
	for n := had; ok && n > 1; n-- {
		v.index.Cool(h, p)
	}
	return had, ok
}

// unlinkEmpty removes the file of s if it has no records any more. It reports whether it did.
func (v *volume) unlinkEmpty(s *segment) bool {
	v.mu.Lock()
	left := s.length - s.freed
	v.mu.Unlock()
	if left > layout.Page+s.footer {
		return false
	}
	v.unlink(s)
	return true
}

// unlink removes the file of s. Readers may finish; the index must have none of its records.
func (v *volume) unlink(s *segment) {
	v.mu.Lock()
	v.small, v.large = without(v.small, s), without(v.large, s)
	s.listed = false
	bytes := s.length - s.freed
	v.mu.Unlock()
	v.slot(s.number).CompareAndSwap(s, nil)
	v.patches.drop(uint16(s.number % slotCount)) //nolint:gosec // below 65,536
	if gone := (leftover{s.number, bytes}); v.note(v.removeFile(gone)) != nil {
		v.hidden.Add(1)
		v.left = append(v.left, gone)
	}
	s.letGo()
}

// leftover is the file of a segment that has left, and could not be removed. The next opening finds its records again.
type leftover struct {
	number uint64
	bytes  int64
}

func (v *volume) removeFile(l leftover) error {
	if err := v.watched(func() error { return notThere(v.dir.Remove(segmentName(l.number))) }); err != nil {
		return err
	}
	v.unsynced = true
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used -= l.bytes
	v.segments--
	return nil
}

// removeLeft removes the files that could not be removed before. It returns why one still cannot.
func (v *volume) removeLeft() (err error) {
	left := v.left
	v.left = nil
	for _, l := range left {
		if failed := v.removeFile(l); failed != nil {
			v.left, err = append(v.left, l), failed
			continue
		}
		v.hidden.Add(-1)
	}
	return err
}

// insert puts s in order, by when it was visited.
func insert(all []*segment, s *segment) []*segment {
	i := len(all)
	for i > 0 && all[i-1].visited > s.visited {
		i--
	}
	return slices.Insert(all, i, s)
}

func without(all []*segment, s *segment) []*segment {
	if i := slices.Index(all, s); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}
