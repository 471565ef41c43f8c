package disk

import (
	"errors"

	"edgeproxy/internal/cache/disk/layout"
)

// Record is a record of a Directory. Its bytes are valid during the call that shows it.
type Record struct {
	// Key and Block are as they were put; nil if Damage is not.
	Key, Block []byte
	BodyBytes  int64
	// File and Offset say where the record lies, Bytes how much it takes there.
	File          string
	Offset, Bytes int64
	// Patch is the latest Patch of the record; Patched says whether there is one.
	Patch   Patch
	Patched bool
	// Damage is why the head cannot be used, nil if it was checked and is right. Check checks the body. If the file cannot be read at all,
	// Offset is 0.
	Damage error

	seg  *segment
	head layout.Head
}

// Each calls visit with every record, in the order of their offsets, until it returns false. It reads only their heads; unsealed segments it
// reads and checks whole.
func (d *Directory) Each(visit func(*Record) bool) {
	for _, s := range d.segments {
		if !d.eachOf(s, visit) {
			return
		}
	}
}

// eachOf calls visit with the records of one segment. It returns false when visit has.
func (d *Directory) eachOf(s *segment, visit func(*Record) bool) bool {
	name := segmentName(s.number)
	entries, holes, err := d.entries(s)
	defer func() {
		if f := s.file.Swap(nil); f != nil {
			_ = f.Close()
		}
	}()
	if errors.Is(err, layout.ErrForeign) {
		return true // a foreign file, which the Store does not touch
	}
	if err != nil {
		return visit(&Record{File: name, Damage: err, seg: s})
	}
	for _, e := range s.living(entries, holes) {
		r := &Record{File: name, Offset: e.Offset, Bytes: e.Bytes, seg: s}
		if r.head, r.Damage = d.journal.headAt(s, e); r.Damage == nil {
			r.Key, r.Block, r.BodyBytes = r.head.Key, r.head.Block, r.head.BodyBytes
			r.Patch, r.Patched = d.journal.patches.find(place(s.number, e.Offset, 0), r.head.Serial)
		}
		if !visit(r) {
			return false
		}
	}
	return true
}

// entries opens the file of s and returns its entries.
func (d *Directory) entries(s *segment) ([]layout.Entry, []hole, error) {
	f, err := d.journal.dir.Open(segmentName(s.number))
	if err != nil {
		return nil, nil, err
	}
	s.file.Store(f)
	b, t, err := d.journal.readFooter(s)
	if errors.Is(err, layout.ErrForeign) || errors.Is(err, layout.ErrDamaged) {
		b, t, err = d.journal.scan(s)
	}
	if err != nil {
		return nil, nil, err
	}
	holes, err := d.journal.holesOf(s, t)
	return decode(b, t), holes, err
}

// checkBytes is how much of a body is read and checked at once.
const checkBytes = 16 * layout.ChunkBytes

// Check reads the body, and returns layout.ErrDamaged if it is not what was written, or why it cannot be read.
func (r *Record) Check() error {
	if r.Damage != nil {
		return r.Damage
	}
	b := make([]byte, min(checkBytes, r.BodyBytes))
	for at := int64(0); at < r.BodyBytes; at += checkBytes {
		b = b[:min(checkBytes, r.BodyBytes-at)]
		if err := readAll(r.seg.file.Load(), b, r.Offset+r.head.BodyAt+at); err != nil {
			return err
		}
		if !r.head.Check(b, at) {
			return layout.ErrDamaged
		}
	}
	return nil
}
