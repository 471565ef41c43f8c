package disk

import (
	"errors"
	"slices"
	"sync/atomic"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// reserved is the range of a segment that a draft is written to, from its first piece to its end. Only the writer uses it, except for failure.
//
// Until then the draft has the segment for itself, and the last record before it ends where the range begins. So giving the range back means
// truncating the file there. The body is written first, and the head last: a kill before that leaves bytes that are no record.
type reserved struct {
	a       *appender // nil: not yet, or no longer
	bodyAt  int64     // from the beginning of the range
	alone   bool      // in a file of its own, as its length is not known
	bytes   int64     // of the range
	written int64     // of the body
	failure atomic.Pointer[error]
}

// failDraft notes that the draft is lost, and gives back its range.
func (v *volume) failDraft(r *reserved, err error) {
	if errors.Is(err, errNoSpace) {
		v.shrink()
	}
	r.failure.CompareAndSwap(nil, &err)
	v.unreserve(r)
}

// writePiece writes the next piece of a body, of whole pages. Want is the length that the range must have by now.
func (v *volume) writePiece(r *reserved, b []byte, want int64) {
	if r.failure.Load() != nil || v.failed() {
		return
	}
	err := v.reserveRoom(r, want)
	if err == nil {
		err = v.writeAt(r.a, b, r.a.at+r.bodyAt+r.written)
	}
	if err != nil {
		v.failDraft(r, err)
		return
	}
	r.written += int64(len(b))
}

// reserveRoom makes the range want bytes long.
func (v *volume) reserveRoom(r *reserved, want int64) error {
	more := want - r.bytes
	if more <= 0 {
		return nil
	}
	if err := v.makeRoom(more); err != nil {
		return err
	}
	if r.a == nil {
		a, err := v.draftSegment(want, r.alone)
		if err != nil {
			return err
		}
		r.a = a
		v.drafting = append(v.drafting, r)
	}
	r.bytes = want
	v.add(r.a.seg, more)
	return nil
}

// idleDrafts is how many segments may wait for another draft.
const idleDrafts = 4

// draftSegment returns a segment with n bytes free.
func (v *volume) draftSegment(n int64, alone bool) (*appender, error) {
	alone = alone || n+2*layout.Page+layout.FooterBytes(1) > v.head.SegmentBytes
	for i, a := range v.idle {
		if !alone && a.fits(n, v.head.SegmentBytes) {
			v.idle = slices.Delete(v.idle, i, i+1)
			return a, nil
		}
	}
	a, err := v.begin(layout.Large, alone)
	if err != nil {
		return nil, err
	}
	if err := v.write(a); err != nil { // its first page
		v.endSegment(a)
		return nil, err
	}
	return a, nil
}

// writeAt writes b, of whole pages, to the file of a.
func (v *volume) writeAt(a *appender, b []byte, offset int64) error {
	began := v.o.Now()
	if err := v.call(func() error {
		_, err := a.file.WriteAt(b, offset)
		return noSpace(err)
	}); err != nil {
		return err
	}
	n := int64(len(b))
	v.counts.wrote(n, v.o.Now().Sub(began))
	v.rate.spend(n)
	v.mu.Lock()
	v.written += uint64(n) //nolint:gosec // above 0
	v.mu.Unlock()
	return nil
}

// unreserve gives the range back.
func (v *volume) unreserve(r *reserved) {
	r.failure.CompareAndSwap(nil, &errAborted)
	a := r.a
	if a == nil {
		return
	}
	v.leaveSegment(r)
	err := v.call(func() error { return a.file.Cut(a.at) })
	v.add(a.seg, -r.bytes)
	if err != nil {
		v.log.add(v.head, layout.Removed{Segment: a.seg.number, Offset: a.at}) // the record may be there, if its head was written
		v.endSegment(a)
		return
	}
	v.rest(a)
}

// publish writes the head of a draft whose body is written, and indexes the record.
func (v *volume) publish(r *reserved, p *put) error {
	a := r.a
	switch why := r.failure.Load(); {
	case v.failed():
		v.queue.finish(p, nil)
		return *v.failure.Load()
	case why != nil:
		v.queue.finish(p, nil)
		return *why
	case v.queue.isGone(p):
		v.unreserve(r)
		v.queue.finish(p, nil)
		return nil
	}
	v.replace(p.Hash)
	v.takeDead()
	err := v.logRemovals()
	v.serial++
	p.Serial = v.serial
	if err == nil {
		head := make([]byte, 0, max(p.shape.BodyAt, layout.AlignFrom)) // page-aligned in memory
		head = v.head.AppendHead(head, &p.Record, p.shape, a.seg.number, a.at)
		err = v.writeAt(a, head[:p.shape.BodyAt], a.at)
	}
	if err != nil {
		v.queue.finish(p, nil)
		v.failDraft(r, err)
		return err
	}
	v.leaveSegment(r)
	e := layout.Entry{Hash: p.Hash, Offset: a.at, Bytes: p.shape.Bytes}
	v.add(a.seg, e.Bytes-r.bytes+layout.FooterBytes(a.records()+1)-layout.FooterBytes(a.records()))
	a.entries = layout.AppendEntry(a.entries, e)
	a.serial = p.Serial
	a.at += e.Bytes
	v.mu.Lock()
	a.seg.fresh = append(a.seg.fresh, index.Entry{Hash: e.Hash, Place: place(a.seg.number, e.Offset, e.Bytes)})
	v.mu.Unlock()
	if !v.queue.finish(p, func() {
		if lost, was := v.index.Put(e.Hash, place(a.seg.number, e.Offset, e.Bytes)); was {
			v.lost(lost)
		}
	}) {
		v.log.add(v.head, layout.Removed{Segment: a.seg.number, Offset: e.Offset})
		v.freeLogged(freeing{seg: a.seg, offset: e.Offset, bytes: e.Bytes, logged: true})
	}
	v.rest(a)
	return nil
}

// leaveSegment detaches the draft from the segment.
func (v *volume) leaveSegment(r *reserved) {
	r.a = nil
	if i := slices.Index(v.drafting, r); i >= 0 {
		v.drafting = slices.Delete(v.drafting, i, i+1)
	}
}

// rest keeps a segment for another draft, or ends it.
func (v *volume) rest(a *appender) {
	if a.alone || !a.fits(v.head.SegmentBytes/8, v.head.SegmentBytes) {
		v.endSegment(a)
		return
	}
	v.idle = append(v.idle, a)
	if len(v.idle) > idleDrafts {
		v.endSegment(v.idle[0])
		v.idle = slices.Delete(v.idle, 0, 1)
	}
}

// endSegment seals a segment of drafts, or removes it if it is empty.
func (v *volume) endSegment(a *appender) {
	if a.records() == 0 {
		_ = v.call(a.file.Done)
		v.unlink(a.seg)
		return
	}
	_ = v.sealOff(a)
}

// endDrafts gives up the drafts that are being written, and seals their segments.
func (v *volume) endDrafts() {
	for len(v.drafting) > 0 {
		v.unreserve(v.drafting[0])
	}
	v.endIdle()
}

// endIdle seals the segments that no draft uses. It reports whether there were any.
func (v *volume) endIdle() bool {
	idle := v.idle
	v.idle = nil
	for _, a := range idle {
		v.endSegment(a)
	}
	return len(idle) > 0
}
