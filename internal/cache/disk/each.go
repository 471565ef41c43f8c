package disk

import (
	"errors"
	"slices"

	"edgeproxy/internal/cache/disk/layout"
)

// Item is a record that Each visits. Its bytes are valid during the call.
type Item struct {
	Hash       uint64
	Key, Block []byte
	BodyBytes  int64
	Segment    uint64 // number of the segment that has it; 0 if it waits to be written
	Hits       int    // since the hand passed
	Patch      Patch
	Patched    bool // it has a Patch
	remove     func()
}

// Remove removes the record.
func (i *Item) Remove() { i.remove() }

// parts is the writer's state at one moment, for Each.
type parts struct {
	open  []part
	next  uint64 // no segment with a lower number is written to from then on
	moved int64  // records rewritten by then
}

// part is the part of an unsealed segment that is in its file.
type part struct {
	seg     *segment
	entries []byte
	end     int64
}

// parts returns what is being written. Only the writer may call it.
func (w *writer) parts() parts {
	p := parts{next: w.numbers, moved: w.counts.rewrites.Load()}
	writing := append(w.open[:], w.idle...)
	for _, r := range w.drafting {
		writing = append(writing, r.a)
	}
	for _, a := range writing {
		if a != nil {
			p.open = append(p.open, part{seg: a.seg, entries: slices.Clone(a.entries), end: a.at})
			p.next = min(p.next, a.seg.number)
		}
	}
	return p
}

// each calls visit with every record that is there for the whole call. See Store.Each.
//
// A record moves from the queue to a segment, and from one segment to another with a higher number. So each visits the queue first,
// then the segments by their numbers, and then again the segments to which records may have moved meanwhile, until none has.
func (v *volume) each(visit func(*Item) bool) error {
	for _, p := range v.queue.all() {
		if !visit(&Item{Hash: p.Hash, Key: p.Key, Block: p.Block, BodyBytes: p.shape.BodyBytes, remove: func() { v.removePut(p) }}) {
			return errStopped
		}
	}
	pace := pacer{v: &v.shared, perSecond: v.o.SweepRate, began: v.o.Now()}
	for from := uint64(0); ; {
		now, err := v.askParts()
		if err != nil {
			return err
		}
		for _, s := range v.segments.listedFrom(from) {
			if err := v.eachSealed(s, &pace, visit); err != nil {
				return err
			}
		}
		for _, o := range now.open {
			if err := v.eachOf(o.seg, decode(o.entries, layout.Trailer{EntriesAt: o.end}), &pace, visit); err != nil {
				return err
			}
		}
		switch {
		case v.stopping(): // segments that were let go have been left out
			return ErrOff
		case v.counts.rewrites.Load() == now.moved:
			return nil
		}
		from = now.next
	}
}

// removePut removes a record that waits to be written, and what it replaces, which the writer has not removed yet.
func (v *volume) removePut(p *put) {
	v.buryOlder(p.Hash) // first: else it would be found for a moment
	v.queue.dropPut(p)
	v.changed(p.Hash)
}

// askParts asks the writer for its parts.
func (v *volume) askParts() (parts, error) {
	answer := make(chan parts, 1)
	err := v.wait(v.queue.ask(func() error { answer <- v.writer.parts(); return nil }), nil)
	if err != nil {
		return parts{}, err
	}
	return <-answer, nil
}

// eachSealed calls visit with the records of a segment that is sealed, or was given up.
func (v *volume) eachSealed(s *segment, pace *pacer, visit func(*Item) bool) error {
	if !s.hold() {
		return nil
	}
	defer s.letGo()
	v.loader.fillIn(s)
	if s.file.Load() == nil { // it cannot be read, and none of its records is in the index
		return nil
	}
	entries, err := v.loader.footerOf(s)
	if err != nil {
		return err
	}
	return v.eachOf(s, entries, pace, visit)
}

// eachOf calls visit with those of the entries that are in the index.
func (v *volume) eachOf(s *segment, entries []layout.Entry, pace *pacer, visit func(*Item) bool) error {
	var h Hit
	for _, e := range entries {
		if v.failed() {
			return *v.failure.Load()
		}
		p := place(s.number, e.Offset, e.Bytes)
		if !s.hold() {
			return nil // the records with hits have moved
		}
		v.pins.add(p, 1)
		h.r, h.seg, h.at, h.hash, h.chunkAt = &v.reader, s, p, e.Hash, -1
		hits, ok := v.index.Hits(e.Hash, p)
		if !ok {
			h.Close()
			continue
		}
		goOn, err := true, pace.wait(min(layout.Page, e.Bytes))
		if err == nil {
			var head layout.Head
			if head, err = h.headPatiently(); err == nil {
				noted, ok := v.patches.find(p, head.Serial)
				goOn = visit(&Item{
					Patch: noted, Patched: ok,
					Hash: e.Hash, Key: head.Key, Block: head.Block, BodyBytes: head.BodyBytes, Segment: s.number, Hits: hits,
					remove: func() {
						if v.index.Remove(e.Hash, p) {
							v.buried(p)
						}
						v.changed(e.Hash)
					},
				})
			}
		}
		h.Close()
		switch {
		case errors.Is(err, ErrSlow) || errors.Is(err, ErrOff):
			return err
		case err != nil: // then it is not found either
			v.reader.reject(e.Hash, p, err)
		case !goOn:
			return errStopped
		}
	}
	return nil
}

// slowTries is how often a sweep tries a read when the device is too slow.
const slowTries = 8

// headPatiently is readHead for a caller that can wait longer than a request.
func (h *Hit) headPatiently() (head layout.Head, err error) {
	for range slowTries {
		if head, err = h.readHead(); !errors.Is(err, ErrSlow) {
			break
		}
	}
	return head, err
}

// readHead reads only the head of the record.
func (h *Hit) readHead() (layout.Head, error) {
	offset := int64(h.at.Offset) * layout.Unit
	if err := h.fetch(0, offset, min(layout.Page, layout.ClassBytes(h.at.Class))); err != nil {
		return layout.Head{}, err
	}
	shape, err := h.r.head.Need(h.buf, h.seg.number, offset)
	if err != nil {
		return layout.Head{}, ErrDamaged
	}
	if have := int64(len(h.buf)); have < shape.HeadBytes() {
		if err := h.fetch(have, offset, shape.HeadBytes()); err != nil {
			return layout.Head{}, err
		}
	}
	head, err := h.r.head.ParseHead(h.buf, h.seg.number, offset)
	if err != nil {
		return head, ErrDamaged
	}
	return head, nil
}
