package disk

import (
	"errors"

	"edgeproxy/internal/cache/disk/layout"
)

// Checked is a record that Verify has read.
type Checked struct {
	// File and Offset say where it lies, Bytes how much it takes there.
	File          string
	Offset, Bytes int64
	// Err is why it cannot be used, nil if it can. A record with an Err is removed, and counts as damaged.
	Err error
}

// Verify reads all records on the disk, bodies included, at the rate of Each, and calls visit with each until that returns false. It counts as
// no hit. It may leave out records that move meanwhile: their mover checks them.
func (s *Store) Verify(visit func(Checked) bool) error {
	v := s.volume.Load()
	if v == nil {
		return ErrOff
	}
	if err := v.verify(visit); !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

func (v *volume) verify(visit func(Checked) bool) error {
	now, err := v.askParts()
	if err != nil {
		return err
	}
	pace := pacer{v: &v.shared, perSecond: v.o.SweepRate, began: v.o.Now()}
	for _, s := range v.segments.listedFrom(0) {
		v.loader.fillIn(s)
		if s.file.Load() == nil || !s.hold() {
			continue
		}
		b, t := s.entries, layout.Trailer{EntriesAt: v.segments.end(s)}
		if b == nil {
			b, t, err = v.readFooter(s)
		}
		s.letGo()
		if err != nil {
			if !visit(Checked{File: segmentName(s.number), Err: err}) {
				return errStopped
			}
			continue
		}
		if err := v.verifyAll(s, decode(b, t), &pace, visit); err != nil {
			return err
		}
	}
	for _, o := range now.open {
		if err := v.verifyAll(o.seg, decode(o.entries, layout.Trailer{EntriesAt: o.end}), &pace, visit); err != nil {
			return err
		}
	}
	return nil
}

// verifyAll checks those of the entries that are in the index.
func (v *volume) verifyAll(s *segment, entries []layout.Entry, pace *pacer, visit func(Checked) bool) error {
	for _, e := range entries {
		if v.failed() {
			return *v.failure.Load()
		}
		there, err := v.verifyOne(s, e, pace)
		switch {
		case errors.Is(err, ErrSlow) || errors.Is(err, ErrOff):
			return err
		case there && !visit(Checked{File: segmentName(s.number), Offset: e.Offset, Bytes: e.Bytes, Err: err}):
			return errStopped
		}
	}
	return nil
}

// verifyOne checks the record of e. It returns false if the index no longer has it.
func (v *volume) verifyOne(s *segment, e layout.Entry, pace *pacer) (there bool, err error) {
	p := place(s.number, e.Offset, e.Bytes)
	if !s.hold() {
		return false, nil
	}
	v.pins.add(p, 1)
	h := Hit{r: &v.reader, seg: s, at: p, hash: e.Hash, chunkAt: -1}
	defer h.Close()
	if _, there = v.index.Hits(e.Hash, p); !there {
		return false, nil
	}
	if h.head, err = h.headPatiently(); err == nil {
		h.size = h.head.BodyBytes
		for at := int64(0); at < h.size && err == nil; at += layout.ChunkBytes {
			if err = pace.wait(min(layout.ChunkBytes, h.size-at)); err == nil {
				err = h.checkPatiently(at)
			}
		}
	} else if !errors.Is(err, ErrSlow) {
		v.reader.reject(e.Hash, p, err)
	}
	if err != nil {
		return !v.segments.gone(s), err
	}
	return true, nil
}

// checkPatiently checks the chunk at offset at, and can wait longer than a request.
func (h *Hit) checkPatiently(at int64) (err error) {
	for range slowTries {
		if err = h.Check(at, 1); !errors.Is(err, ErrSlow) {
			break
		}
	}
	return err
}
