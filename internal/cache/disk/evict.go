package disk

import (
	"slices"

	"edgeproxy/internal/cache/disk/index"
	"edgeproxy/internal/cache/disk/layout"
)

// Shares of a segment.
const (
	rewriteShare = 0.5  // that may be written anew when a segment of small records goes
	sparseShare  = 0.03 // below which what is left of one of large records is written anew
	crowdedShare = 0.15 // the same where there are crowdedTimes as many segments as the store has room for full ones, or half of the slots are taken
)

const crowdedTimes = 3

// reserve is how many bytes of the limit are kept free for what is written anew before its segment goes.
func (v *volume) reserve() int64 { return v.head.SegmentBytes * 5 / 8 }

// makeRoom evicts until n more bytes fit.
func (v *volume) makeRoom(n int64) error {
	v.stayed = 0
	n += 2*layout.Page + layout.FooterBytes(1) // a segment that may have to be begun
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

// sealForRoom seals what is open, so that it can go: in a cache that has nothing else.
func (v *volume) sealForRoom() bool {
	sealed := v.endIdle()
	for _, kind := range []layout.Kind{layout.Small, layout.Large} {
		if a := v.open[kind-1]; a != nil && a.records() > 0 && !v.failed() {
			sealed = v.seal(kind) == nil || sealed
		}
	}
	return sealed
}

// evict takes one step: whichever was looked at longest ago goes, or is looked at.
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

// drop gives up a segment, and writes anew what was asked for; or it leaves the segment for a lap.
func (v *volume) drop(s *segment) {
	v.fillIn(s)
	v.mu.Lock()
	other := !slices.Contains(v.small, s)
	v.mu.Unlock()
	if other { // it turned out to be one of large records, or none of ours
		return
	}
	entries, err := v.entriesOf(s)
	if err == nil {
		l := v.lookOver(s, entries)
		if v.stays(l) {
			v.stay(s)
			return
		}
		v.rewrite(s, v.chosen(s, l))
	}
	v.unlink(s)
}

// chosen returns those of the records of s to be written anew: the most asked for, as far as rewriteShare allows. The others
// leave the index.
func (v *volume) chosen(s *segment, l lap) []layout.Entry {
	v.counts.evictedAfter(v.o.Now().Sub(s.seen))
	for _, e := range l.cold {
		if v.index.Remove(e.Hash, place(s.number, e.Offset, e.Bytes)) {
			v.counts.evicted(e.Bytes, s.kind)
		}
	}
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

// rewrite writes records of s anew. What cannot be read is gone.
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
		if v.store(&r, v.fold(&r, head.Shape, from), landing{from: from}) == nil {
			v.counts.rewrote(e.Bytes)
			touched = true
		}
	}
	if a := v.open[s.kind-1]; touched && a != nil {
		_ = v.flush(a) // before their old places go
	}
}

// fold puts what was noted of a record at from into its block. It returns the shape that the record has then.
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

// hand goes over the segments of large records, that first which was looked at longest ago.
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
			continue
		case ok && v.index.Remove(e.Hash, p):
			v.counts.evicted(e.Bytes, s.kind)
		}
		over -= e.Bytes
		out = append(out, freeing{seg: s, offset: e.Offset, bytes: e.Bytes})
	}
	v.free(out)
	if h.at == len(h.entries) {
		v.leave(s)
	}
}

// leave ends a lap of the hand over s.
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

// sparseLocked returns the share of a segment of large records below which what is left of it is written anew. What is in demand stays for long, and to write it
// anew early costs more than a file with holes does, but for a descriptor and a slot.
func (v *volume) sparseLocked() float64 {
	if int64(v.segments) > crowdedTimes*(v.o.MaxBytes/v.head.SegmentBytes) || v.segments > slotCount/2 {
		return crowdedShare
	}
	return sparseShare
}

// coolAll takes all hits from a record. To take one at a time keeps what was hot and is not any more.
func (v *volume) coolAll(h uint64, p index.Place) (had int, ok bool) {
	had, ok = v.index.Cool(h, p)
	for n := had; ok && n > 1; n-- {
		v.index.Cool(h, p)
	}
	return had, ok
}

// unlinkEmpty removes the file of s if nothing is left in it. It reports whether it did.
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

// unlink removes the file of s. Readers go on; the index must have none of its records.
func (v *volume) unlink(s *segment) {
	v.mu.Lock()
	v.small, v.large = without(v.small, s), without(v.large, s)
	s.listed = false
	bytes := s.length - s.freed
	v.mu.Unlock()
	v.slot(s.number).CompareAndSwap(s, nil)
	v.patches.drop(uint16(s.number % slotCount)) //nolint:gosec // below 65,536
	err := v.call(func() error { return v.dir.Remove(segmentName(s.number)) })
	v.mu.Lock()
	if err == nil {
		v.used -= bytes
		v.segments--
	}
	v.mu.Unlock()
	s.letGo()
}

// insert puts s in its place by when it was looked at.
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
