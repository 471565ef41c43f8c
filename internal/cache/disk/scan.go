package disk

import (
	"errors"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// scanBytes is how much of a segment is read at once when it is scanned.
const scanBytes = 1 << 20

// scan finds the records of a segment without a footer, and checks each, its body included. It skips damaged bytes up to the next page where a
// record begins. It returns the entries and a trailer to seal the segment with. The error is ErrForeign if the file does not belong to this
// directory.
func (v *volume) scan(s *segment) ([]byte, layout.Trailer, error) {
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
	first, err := v.head.ParseSegmentHead(page, s.number)
	switch {
	case err == nil:
		t.Kind = first.Kind
	case errors.Is(err, layout.ErrForeign) && !blank(page):
		return nil, t, err
	}
	var entries []byte
	for at := int64(layout.Page); at < size && at < layout.MaxSegment; {
		head, ok, err := v.recordAt(&w, s.number, at)
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
func (v *volume) recordAt(w *window, number uint64, at int64) (layout.Head, bool, error) {
	b, err := w.bytes(at, layout.Unit)
	if err != nil {
		return layout.Head{}, false, err
	}
	shape, err := v.head.Need(b, number, at)
	if err != nil || at+shape.BodyAt+shape.BodyBytes > w.size {
		return layout.Head{}, false, nil //nolint:nilerr // there is no record
	}
	if b, err = w.bytes(at, shape.HeadBytes()); err != nil {
		return layout.Head{}, false, err
	}
	head, err := v.head.ParseHead(append([]byte(nil), b...), number, at)
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
