package disk

import (
	"edgeproxy/internal/cache/disk/layout"
)

// Item is a record that Each has come to. Its bytes are valid during the call.
type Item struct {
	Hash       uint64
	Key, Block []byte
	BodyBytes  int64
	Segment    uint64
	Hits       int // since the hand came by
	remove     func()
}

// Remove forgets the record.
func (i *Item) Remove() { i.remove() }

// each calls visit with every record that is there all the while. See Store.Each.
func (v *volume) each(visit func(*Item) bool) error {
	for i := range v.slots {
		s := v.slots[i].Load()
		if s == nil || !s.hold() {
			continue
		}
		err := v.eachOf(s, visit)
		s.letGo()
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *volume) eachOf(s *segment, visit func(*Item) bool) error {
	if !v.isListed(s) { // it is being written
		return nil
	}
	v.fillIn(s)
	if s.file.Load() == nil {
		return nil
	}
	b, t := s.entries, layout.Trailer{EntriesAt: s.length}
	if b == nil {
		var err error
		if b, t, err = v.readFooter(s); err != nil {
			return nil //nolint:nilerr // it has nothing to show
		}
	}
	var h Hit
	for _, e := range decode(b, t) {
		if v.failed() {
			return *v.failure.Load()
		}
		p := place(s.number, e.Offset, e.Bytes)
		hits, ok := v.index.Hits(e.Hash, p)
		if !ok || !s.hold() {
			continue
		}
		v.pins.add(p, 1)
		h.v, h.seg, h.at, h.hash, h.chunkAt = v, s, p, e.Hash, -1
		goOn := true
		if head, err := h.readHead(); err == nil {
			goOn = visit(&Item{
				Hash: e.Hash, Key: head.Key, Block: head.Block, BodyBytes: head.BodyBytes, Segment: s.number, Hits: hits,
				remove: func() {
					if v.index.Remove(e.Hash, p) {
						v.buried(p)
					}
				},
			})
		}
		h.Close()
		if !goOn {
			return errStopped
		}
	}
	return nil
}

// readHead reads the head of the record alone.
func (h *Hit) readHead() (layout.Head, error) {
	offset := int64(h.at.Offset) * layout.Unit
	if err := h.fetch(0, offset, min(layout.Page, layout.ClassBytes(h.at.Class))); err != nil {
		return layout.Head{}, err
	}
	shape, err := h.v.head.Need(h.buf, h.seg.number, offset)
	if err != nil {
		return layout.Head{}, err
	}
	if have := int64(len(h.buf)); have < shape.HeadBytes() {
		if err := h.fetch(have, offset, shape.HeadBytes()); err != nil {
			return layout.Head{}, err
		}
	}
	return h.v.head.ParseHead(h.buf, h.seg.number, offset)
}
