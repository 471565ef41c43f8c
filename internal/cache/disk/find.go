package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"

	"edgeproxy/internal/cache/disk/index"
	"edgeproxy/internal/cache/disk/layout"
)

// wholeBytes is up to which length a record is read at once.
const wholeBytes = layout.AlignFrom + 16<<10

// ErrDamaged says that bytes on the disk are not those that were written. The record is gone.
var ErrDamaged = errors.New("disk: record is damaged")

// ErrSlow says that the disk did not answer in time, or that too many reads wait for it.
var ErrSlow = errors.New("disk: too slow")

// Hit is a record that Find has found. Its bytes are valid until Close or the next Find into it. The zero Hit is ready for Find; a
// Hit keeps its memory for the next one. One goroutine at a time uses it.
type Hit struct {
	// Block is the caller's, as it was put.
	Block []byte
	// Body is all of the body, or nil where it has to be read by ReadAt or File: where it is long.
	Body []byte
	// Serial tells the record from others of its key, for Patch; 0: it waits to be written.
	Serial uint64
	// Patch is what was noted of it last; Patched says whether anything was.
	Patch   Patch
	Patched bool

	v       *volume
	seg     *segment // held and pinned; nil: all is in memory
	at      index.Place
	hash    uint64
	head    layout.Head
	size    int64
	buf     []byte // what was read
	chunk   []byte // of the body, checked
	chunkAt int64  // where it begins; -1: there is none
}

// Size returns the length of the body.
func (h *Hit) Size() int64 { return h.size }

// Close lets go of the record. It may be called twice.
func (h *Hit) Close() {
	if h.seg != nil {
		h.v.pins.add(h.at, -1)
		h.seg.letGo()
		h.seg = nil
	}
	h.Block, h.Body, h.v = nil, nil, nil
	h.Serial, h.Patched = 0, false
}

// find finds the newest record of key. See Store.Find.
func (v *volume) find(hash uint64, key []byte, h *Hit) bool {
	h.Close()
	if p := v.queue.find(hash, key); p != nil {
		h.Block, h.Body, h.size = p.Block, p.Body, int64(len(p.Body))
		if h.Body == nil {
			h.Body = []byte{}
		}
		v.counts.memoryHits.Add(1)
		return true
	}
	var room [16]index.Place
	places := v.index.Find(hash, room[:0])
	if len(places) > 1 {
		return v.newest(hash, key, places, h)
	}
	for _, p := range places {
		if v.read(hash, key, p, h) {
			v.index.Touch(hash, p)
			v.counts.hits.Add(1)
			return true
		}
	}
	return false
}

// newest reads all of places and leaves that of key with the highest serial in h: seldom, for two records of one key are there only
// after a loss of power, or for a moment.
func (v *volume) newest(hash uint64, key []byte, places []index.Place, h *Hit) bool {
	best, serial := -1, uint64(0)
	for i, p := range places {
		if v.read(hash, key, p, h) && (best < 0 || h.head.Serial > serial) {
			best, serial = i, h.head.Serial
		}
		h.Close()
	}
	if best < 0 || !v.read(hash, key, places[best], h) {
		return false
	}
	v.index.Touch(hash, places[best])
	v.counts.hits.Add(1)
	return true
}

// read reads the record at p into h, if it is that of key. A record that is damaged goes.
func (v *volume) read(hash uint64, key []byte, p index.Place, h *Hit) bool {
	if !v.pin(hash, p, h) {
		return false
	}
	err := h.load(key)
	if err == nil {
		h.Serial = h.head.Serial
		h.Patch, h.Patched = v.patches.find(p, h.Serial)
		return true
	}
	h.Close()
	v.reject(hash, p, err)
	return false
}

// pin has h hold the record at p, if it is there.
func (v *volume) pin(hash uint64, p index.Place, h *Hit) bool {
	s := v.slots[p.Segment].Load()
	if s == nil {
		v.index.Remove(hash, p) // its segment has left
		return false
	}
	if !s.hold() {
		return false
	}
	v.pins.add(p, 1)
	h.v, h.seg, h.at, h.hash, h.chunkAt = v, s, p, hash, -1
	if _, ok := v.index.Hits(hash, p); !ok {
		h.Close()
		return false
	}
	return true
}

// errOtherKey says that the record is another's.
var errOtherKey = errors.New("disk: another key")

// reject counts why a record was not read, and forgets one that is damaged.
func (v *volume) reject(hash uint64, p index.Place, err error) {
	switch {
	case errors.Is(err, errOtherKey):
		v.counts.otherKeys.Add(1)
	case errors.Is(err, ErrSlow):
		v.counts.slowReads.Add(1)
	case !v.index.Remove(hash, p): // it was evicted while it was read
	case errors.Is(err, ErrDamaged):
		v.counts.damaged.Add(1)
		v.buried(p)
	default:
		v.counts.readErrors.Add(1)
		v.buried(p)
	}
}

// load reads the head, and the body where that is short.
func (h *Hit) load(key []byte) error {
	offset := int64(h.at.Offset) * layout.Unit
	n := layout.ClassBytes(h.at.Class)
	if n > wholeBytes {
		n = layout.Page
	}
	if err := h.fetch(0, offset, n); err != nil {
		return err
	}
	shape, err := h.v.head.Need(h.buf, h.seg.number, offset)
	if err != nil {
		return ErrDamaged
	}
	want := shape.HeadBytes()
	whole := shape.BodyAt+shape.BodyBytes <= wholeBytes
	if whole {
		want = shape.BodyAt + shape.BodyBytes
	}
	if have := int64(len(h.buf)); have < want {
		if err := h.fetch(have, offset, want); err != nil {
			return err
		}
	}
	if h.head, err = h.v.head.ParseHead(h.buf, h.seg.number, offset); err != nil || int64(len(h.buf)) < want {
		return ErrDamaged
	}
	if !bytes.Equal(h.head.Key, key) {
		return errOtherKey
	}
	h.Block, h.size, h.Body = h.head.Block, shape.BodyBytes, nil
	if whole {
		h.Body = h.buf[shape.BodyAt:][:shape.BodyBytes:shape.BodyBytes]
		if !h.head.Check(h.Body, 0) {
			return ErrDamaged
		}
	}
	return nil
}

// fetch reads the record up to byte to into buf, which has it up to from. At the end of the file there may be less.
func (h *Hit) fetch(from, offset, to int64) error {
	h.buf = slices.Grow(h.buf[:from], int(to-from))[:to]
	n, err := h.v.readAt(h.seg.file.Load(), h.buf[from:], offset+from)
	switch {
	case errors.Is(err, io.EOF):
		h.buf = h.buf[:from+int64(n)]
		return nil
	case errors.Is(err, ErrSlow):
		h.buf = nil // a reader may still use it
	}
	return err
}

// ReadAt implements io.ReaderAt for the body. What it gives was checked. The error is io.EOF, ErrDamaged, ErrSlow or one of the
// file system.
func (h *Hit) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, os.ErrInvalid
	}
	for n < len(p) && offset < h.size {
		got, err := h.readSome(p[n:], offset)
		if err != nil {
			return n, err
		}
		n += got
		offset += int64(got)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readSome reads from one chunk.
func (h *Hit) readSome(p []byte, offset int64) (int, error) {
	if h.Body != nil {
		return copy(p, h.Body[offset:]), nil
	}
	at := offset &^ (layout.ChunkBytes - 1)
	length := min(layout.ChunkBytes, h.size-at)
	if at == offset && int64(len(p)) >= length { // all of it is wanted
		file := int64(h.at.Offset)*layout.Unit + h.head.BodyAt + at
		if h.seg.file.Load().ReadNow(p[:length], file) {
			return int(length), h.checked(p[:length], at)
		}
	}
	if h.chunkAt != at {
		h.chunkAt = -1
		if h.chunk = h.chunk[:0]; int64(cap(h.chunk)) < length {
			h.chunk = make([]byte, 0, layout.ChunkBytes)
		}
		h.chunk = h.chunk[:length]
		got, err := h.v.readAt(h.seg.file.Load(), h.chunk, int64(h.at.Offset)*layout.Unit+h.head.BodyAt+at)
		if errors.Is(err, ErrSlow) {
			h.chunk = nil // a reader may still use it
			return 0, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			h.v.reject(h.hash, h.at, err)
			return 0, err
		}
		if err := h.checked(h.chunk[:got], at); err != nil {
			return 0, err
		}
		h.chunkAt = at
	}
	return copy(p, h.chunk[offset-at:]), nil
}

// checked returns ErrDamaged if b is not the chunk at at, and forgets the record.
func (h *Hit) checked(b []byte, at int64) error {
	if int64(len(b)) == min(layout.ChunkBytes, h.size-at) && h.head.Check(b, at) {
		return nil
	}
	h.v.reject(h.hash, h.at, ErrDamaged)
	return ErrDamaged
}

// File returns the file that has the body, and where it begins there, for sendfile; false where the body is in memory. Nobody has
// checked the bytes: see Check. The file is the Store's, and stays as it is until Close.
func (h *Hit) File() (f *os.File, offset int64, ok bool) {
	if h.seg == nil || h.Body != nil {
		return nil, 0, false
	}
	return h.seg.file.Load().OS(), int64(h.at.Offset)*layout.Unit + h.head.BodyAt, true
}

// Check reads the part of the body from offset on, and returns an error as ReadAt does. After it the part is in the page cache.
func (h *Hit) Check(offset, length int64) error {
	for end := min(offset+length, h.size); offset < end; {
		var one [1]byte
		if _, err := h.readSome(one[:], offset); err != nil {
			return err
		}
		offset = offset&^(layout.ChunkBytes-1) + layout.ChunkBytes
	}
	return nil
}
