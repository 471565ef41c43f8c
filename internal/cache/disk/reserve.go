package disk

import (
	"errors"
	"slices"
	"sync/atomic"

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
	bytes   int64     // length of the range
	written int64     // bytes of the body in the file
	failure atomic.Pointer[error]
}

// ranges are the parts of segments that drafts are written to. Only the writer uses them.
type ranges struct {
	evictor
	drafting []*reserved
}

// failDraft notes that the draft is lost, and gives back its range.
func (w *ranges) failDraft(r *reserved, err error) {
	if errors.Is(err, errNoSpace) {
		w.segments.shrink()
	}
	r.failure.CompareAndSwap(nil, &err)
	w.unreserve(r)
}

// writePiece writes the next piece of a body, of whole pages. Want is the length that the range must have by now.
func (w *ranges) writePiece(r *reserved, b []byte, want int64) {
	if r.failure.Load() != nil || w.failed() {
		return
	}
	err := w.reserveRoom(r, want)
	if err == nil {
		err = w.writeAt(r.a, b, r.a.at+r.bodyAt+r.written)
	}
	if err != nil {
		w.failDraft(r, err)
		return
	}
	r.written += int64(len(b))
}

// reserveRoom makes the range want bytes long.
func (w *ranges) reserveRoom(r *reserved, want int64) error {
	more := want - r.bytes
	if more <= 0 {
		return nil
	}
	if err := w.makeRoom(more); err != nil {
		return err
	}
	if r.a == nil {
		a, err := w.draftSegment(want, r.alone)
		if err != nil {
			return err
		}
		r.a = a
		w.drafting = append(w.drafting, r)
	}
	r.bytes = want
	w.segments.add(r.a.seg, more)
	return nil
}

// idleDrafts is how many segments may wait for another draft.
const idleDrafts = 4

// draftSegment returns a segment with n bytes free.
func (w *ranges) draftSegment(n int64, alone bool) (*appender, error) {
	alone = alone || n+2*layout.Page+layout.FooterBytes(1) > w.head.SegmentBytes
	for i, a := range w.idle {
		if !alone && a.fits(n, w.head.SegmentBytes) {
			w.idle = slices.Delete(w.idle, i, i+1)
			return a, nil
		}
	}
	a, err := w.begin(layout.Large, alone)
	if err != nil {
		return nil, err
	}
	if err := w.write(a); err != nil { // its first page
		w.endSegment(a)
		return nil, err
	}
	return a, nil
}

// unreserve gives the range back.
func (w *ranges) unreserve(r *reserved) {
	r.failure.CompareAndSwap(nil, &errAborted)
	a := r.a
	if a == nil {
		return
	}
	w.leaveSegment(r)
	err := w.call(func() error { return a.file.Cut(a.at) })
	w.segments.add(a.seg, -r.bytes)
	if err != nil {
		w.log.add(w.head, layout.Removed{Segment: a.seg.number, Offset: a.at}) // the record may be there, if its head was written
		w.endSegment(a)
		return
	}
	w.rest(a)
}

// publish writes the head of a draft whose body is written, and indexes the record.
func (w *ranges) publish(r *reserved, p *put) error {
	a := r.a
	switch why := r.failure.Load(); {
	case w.failed():
		w.queue.finish(p, nil)
		return *w.failure.Load()
	case why != nil:
		w.queue.finish(p, nil)
		return *why
	case w.queue.isGone(p):
		w.unreserve(r)
		w.queue.finish(p, nil)
		return nil
	}
	w.replace(p.Hash)
	w.takeDead()
	err := w.logRemovals()
	w.serial++
	p.Serial = w.serial
	if err == nil {
		head := make([]byte, 0, max(p.shape.BodyAt, layout.AlignFrom)) // page-aligned in memory
		head = w.head.AppendHead(head, &p.Record, p.shape, a.seg.number, a.at)
		err = w.writeAt(a, head[:p.shape.BodyAt], a.at)
	}
	if err != nil {
		w.queue.finish(p, nil)
		w.failDraft(r, err)
		return err
	}
	w.leaveSegment(r)
	e := layout.Entry{Hash: p.Hash, Offset: a.at, Bytes: p.shape.Bytes}
	w.segments.add(a.seg, e.Bytes-r.bytes+layout.FooterBytes(a.records()+1)-layout.FooterBytes(a.records()))
	a.entries = layout.AppendEntry(a.entries, e)
	a.serial = p.Serial
	a.at += e.Bytes
	w.segments.announce(a.seg, e)
	if !w.queue.finish(p, func() {
		if lost, was := w.index.Put(e.Hash, place(a.seg.number, e.Offset, e.Bytes)); was {
			w.lost(lost)
		}
	}) {
		w.log.add(w.head, layout.Removed{Segment: a.seg.number, Offset: e.Offset})
		w.freeLogged(freeing{seg: a.seg, offset: e.Offset, bytes: e.Bytes, logged: true})
	}
	w.rest(a)
	return nil
}

// leaveSegment detaches the draft from the segment.
func (w *ranges) leaveSegment(r *reserved) {
	r.a = nil
	if i := slices.Index(w.drafting, r); i >= 0 {
		w.drafting = slices.Delete(w.drafting, i, i+1)
	}
}

// rest keeps a segment for another draft, or ends it.
func (w *appenders) rest(a *appender) {
	if a.alone || !a.fits(w.head.SegmentBytes/8, w.head.SegmentBytes) {
		w.endSegment(a)
		return
	}
	w.idle = append(w.idle, a)
	if len(w.idle) > idleDrafts {
		w.endSegment(w.idle[0])
		w.idle = slices.Delete(w.idle, 0, 1)
	}
}

// endSegment seals a segment of drafts, or removes it if it is empty.
func (w *appenders) endSegment(a *appender) {
	if a.records() == 0 {
		_ = w.call(a.file.Done)
		w.unlink(a.seg)
		return
	}
	_ = w.sealOff(a)
}

// endDrafts gives up the drafts that are being written, and seals their segments.
func (w *ranges) endDrafts() {
	for len(w.drafting) > 0 {
		w.unreserve(w.drafting[0])
	}
	w.endIdle()
}

// endIdle seals the segments that no draft uses. It reports whether there were any.
func (w *appenders) endIdle() bool {
	idle := w.idle
	w.idle = nil
	for _, a := range idle {
		w.endSegment(a)
	}
	return len(idle) > 0
}
