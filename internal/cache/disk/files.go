package disk

import (
	"errors"
	"io"
	"slices"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// files are the files of a directory, as their own bytes say what they are. It does not change.
type files struct {
	dir  *device.Dir
	head layout.Header
}

// scanBytes is how much of a segment is read at once when it is scanned.
const scanBytes = 1 << 20

// scan finds the records of a segment without a footer, and checks each, its body included. It skips damaged bytes up to the next page where a
// record begins. It returns the entries and a trailer to seal the segment with. The error is ErrForeign if the file does not belong to this
// directory.
func (d *files) scan(s *segment) ([]byte, layout.Trailer, error) {
	w := window{file: s.file.Load()}
	size, err := w.file.Bytes()
	if err != nil {
		return nil, layout.Trailer{}, err
	}
	w.size = size
	t := layout.Trailer{Number: s.number, Kind: layout.Small, EntriesAt: layout.Page}
	page, err := w.bytes(0, layout.Page)
	if err != nil {
		return nil, t, err
	}
	first, err := d.head.ParseSegmentHead(page, s.number)
	switch {
	case err == nil:
		t.Kind = first.Kind
	case errors.Is(err, layout.ErrForeign) && !blank(page):
		return nil, t, err
	}
	var entries []byte
	for at := int64(layout.Page); at < size && at < layout.MaxSegment; {
		head, ok, err := d.recordAt(&w, s.number, at)
		if err != nil {
			return nil, t, err
		}
		if !ok {
			at = layout.Align(at+1, layout.Page)
			continue
		}
		entries = layout.AppendEntry(entries, layout.Entry{Hash: head.Hash, Offset: at, Bytes: head.Bytes})
		t.Serial = max(t.Serial, head.Serial)
		at += head.Bytes
		t.EntriesAt = layout.Align(at, layout.Page)
	}
	t.Entries, t.Sum = int64(len(entries)/layout.EntryBytes), layout.Sum(entries)
	return entries, t, nil
}

// recordAt returns the head of the record at offset at, if a complete record is there.
func (d *files) recordAt(w *window, number uint64, at int64) (layout.Head, bool, error) {
	b, err := w.bytes(at, layout.Unit)
	if err != nil {
		return layout.Head{}, false, err
	}
	shape, err := d.head.Need(b, number, at)
	if err != nil || at+shape.BodyAt+shape.BodyBytes > w.size {
		return layout.Head{}, false, nil //nolint:nilerr // there is no record
	}
	if b, err = w.bytes(at, shape.HeadBytes()); err != nil {
		return layout.Head{}, false, err
	}
	head, err := d.head.ParseHead(append([]byte(nil), b...), number, at)
	if err != nil {
		return layout.Head{}, false, nil //nolint:nilerr // there is no record
	}
	for from := int64(0); from < head.BodyBytes; from += layout.ChunkBytes {
		chunk, err := w.bytes(at+head.BodyAt+from, min(layout.ChunkBytes, head.BodyBytes-from))
		if err != nil {
			return layout.Head{}, false, err
		}
		if !head.Check(chunk, from) {
			return layout.Head{}, false, nil
		}
	}
	return head, true, nil
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// window reads a file from its beginning to its end in large pieces.
type window struct {
	file *device.File
	size int64
	buf  []byte
	at   int64 // the offset of buf in the file
}

// bytes returns n bytes at offset at; fewer at the end of the file.
func (w *window) bytes(at, n int64) ([]byte, error) {
	n = max(min(n, w.size-at), 0)
	if at < w.at || at+n > w.at+int64(len(w.buf)) {
		want := min(max(n, scanBytes), w.size-at)
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		w.buf, w.at = w.buf[:want], at
		if err := readAll(w.file, w.buf, at); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	return w.buf[at-w.at:][:n], nil
}

// footerGuess is how much of the end of a segment is read at first.
const footerGuess = 64 << 10

// readFooter returns the encoded, checked entries of a sealed segment, and its trailer.
func (d *files) readFooter(s *segment) ([]byte, layout.Trailer, error) {
	f := s.file.Load()
	size, err := f.Bytes()
	if err != nil {
		return nil, layout.Trailer{}, err
	}
	if size < 2*layout.Page {
		return nil, layout.Trailer{}, layout.ErrDamaged
	}
	b := make([]byte, min(footerGuess, size))
	if err := readAll(f, b, size-int64(len(b))); err != nil {
		return nil, layout.Trailer{}, err
	}
	t, err := d.head.ParseTrailer(b[len(b)-layout.TrailerBytes:], s.number, size)
	if err != nil {
		return nil, t, err
	}
	entries := t.Entries * layout.EntryBytes
	if missing := size - int64(len(b)) - t.EntriesAt; missing > 0 {
		whole := make([]byte, missing+int64(len(b)))
		copy(whole[missing:], b)
		if err := readAll(f, whole[:missing], t.EntriesAt); err != nil {
			return nil, t, err
		}
		b = whole[:entries]
	} else {
		b = b[-missing:][:entries]
	}
	if layout.Sum(b) != t.Sum {
		return nil, t, layout.ErrDamaged
	}
	return b, t, nil
}

type hole struct{ from, to int64 }

// holesOf returns the holes of a segment of large records.
func (d *files) holesOf(s *segment, t layout.Trailer) ([]hole, error) {
	if t.Kind != layout.Large {
		return nil, nil
	}
	var all []hole
	f := s.file.Load()
	for at := int64(0); at < t.EntriesAt; {
		from, err := f.Hole(at)
		if err != nil || from >= t.EntriesAt {
			return all, err
		}
		to, err := f.Data(from)
		if err != nil {
			return all, err
		}
		all = append(all, hole{from, to})
		at = max(to, from+1)
	}
	return all, nil
}

// firstHole returns the index of the first hole that ends behind at.
func firstHole(holes []hole, at int64) int {
	i, _ := slices.BinarySearchFunc(holes, at+1, func(h hole, at int64) int {
		if h.to < at {
			return -1
		}
		return 1
	})
	return i
}

// overlaps reports whether part of e is in a hole: it was punched out, or never reached the disk.
func overlaps(holes []hole, e layout.Entry) bool {
	i := firstHole(holes, e.Offset)
	return i < len(holes) && holes[i].from < e.Offset+e.Bytes
}

// within reports whether all of e is in a hole.
func within(holes []hole, e layout.Entry) bool {
	i := firstHole(holes, e.Offset)
	return i < len(holes) && holes[i].from <= e.Offset && holes[i].to >= e.Offset+e.Bytes
}

// readAll reads exactly len(b) bytes at offset, or returns an error.
func readAll(f *device.File, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return layout.ErrDamaged
	}
	return err
}

// headAt reads the head of the record of e.
func (d *files) headAt(s *segment, e layout.Entry) (layout.Head, error) {
	f := s.file.Load()
	b := make([]byte, min(layout.Page, e.Bytes))
	if err := readAll(f, b, e.Offset); err != nil {
		return layout.Head{}, err
	}
	shape, err := d.head.Need(b, s.number, e.Offset)
	if err != nil {
		return layout.Head{}, err
	}
	if have, want := int64(len(b)), shape.HeadBytes(); have < want && want <= e.Bytes {
		b = append(b, make([]byte, want-have)...)
		if err := readAll(f, b[have:], e.Offset+have); err != nil {
			return layout.Head{}, err
		}
	}
	head, err := d.head.ParseHead(b, s.number, e.Offset)
	if err == nil && (head.Hash != e.Hash || head.BodyAt+head.BodyBytes > e.Bytes) {
		err = layout.ErrDamaged
	}
	return head, err
}
