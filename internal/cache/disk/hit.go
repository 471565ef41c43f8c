package disk

import (
	"errors"
	"io"
	"os"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// Hit is a record that Find has found. Its bytes are valid until Close or the next Find into it. The zero Hit is ready for Find; a Hit reuses
// its memory for the next record. One goroutine at a time uses it.
type Hit struct {
	// Block is the caller's block, as it was put.
	Block []byte
	// Body is the whole body, or nil if it is long and has to be read by ReadAt or File.
	Body []byte
	// Serial identifies the record among those of its key, for Patch; 0: it waits to be written.
	Serial uint64
	// Patch is the record's latest Patch; Patched says whether there is one.
	Patch   Patch
	Patched bool

	r       *reader
	seg     *segment // with a reference and a pin; nil: all is in memory
	at      index.Place
	hash    uint64
	head    layout.Head
	size    int64
	buf     []byte // the bytes read
	chunk   []byte // a chunk of the body, checked
	chunkAt int64  // where chunk begins; -1: there is none
	known   *known // the head in memory; nil: it is not kept
	asked   int    // number of hits before, as the index counts them
	ready   span   // part of the body that has just been checked
}

// span is a part of a body.
type span struct{ offset, length int64 }

// Size returns the length of the body.
func (h *Hit) Size() int64 { return h.size }

// Close releases the record. It may be called more than once.
func (h *Hit) Close() {
	if h.seg != nil {
		h.r.pins.add(h.at, -1)
		h.seg.letGo()
		h.seg = nil
	}
	h.Block, h.Body, h.r, h.known = nil, nil, nil, nil
	h.Serial, h.Patched, h.ready = 0, false, span{}
}

// Free is Close, and gives the memory of the Hit to others: nobody may use any bytes of it after that.
func (h *Hit) Free() {
	h.Close()
	buffers.give(h.buf)
	buffers.give(h.chunk)
	h.buf, h.chunk = nil, nil
}

// get reads the record, whether or not its head is in memory.
func (h *Hit) get(key []byte) error {
	if k := h.r.hot.find(h.at, h.seg.number); k != nil {
		return h.loadBody(k, key)
	}
	return h.load(key)
}

// load reads the head, and the body if it is short.
func (h *Hit) load(key []byte) error {
	offset := int64(h.at.Offset) * layout.Unit
	n := layout.ClassBytes(h.at.Class)
	if n > wholeBytes {
		n = layout.Page
	}
	if err := h.fetch(0, offset, n); err != nil {
		return err
	}
	shape, err := h.r.head.Need(h.buf, h.seg.number, offset)
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
	if h.head, err = h.r.head.ParseHead(h.buf, h.seg.number, offset); err != nil || int64(len(h.buf)) < want {
		return ErrDamaged
	}
	if !wants(key, h.head.Key) {
		return errOtherKey
	}
	h.Block, h.size, h.Body = h.head.Block, shape.BodyBytes, nil
	if whole && !h.takeBody(shape.BodyAt) {
		return ErrDamaged
	}
	h.remember()
	return nil
}

// takeBody makes buf from at on the body. It reports whether the checksum is right.
func (h *Hit) takeBody(at int64) bool {
	h.Body = h.buf[at:][:h.size:h.size]
	return h.head.Check(h.Body, 0)
}

// loadBody is load for a record whose head is in memory.
func (h *Hit) loadBody(k *known, key []byte) error {
	if !wants(key, k.head.Key) {
		return errOtherKey
	}
	h.known, h.head = k, k.head
	h.Block, h.size, h.Body = k.head.Block, k.head.BodyBytes, nil
	switch {
	case h.size == 0:
		h.Body = []byte{}
		return nil
	case k.head.BodyAt+h.size > wholeBytes:
		return nil
	}
	if err := h.fetch(0, int64(h.at.Offset)*layout.Unit+k.head.BodyAt, h.size); err != nil {
		return err
	}
	if int64(len(h.buf)) != h.size || !h.takeBody(0) {
		return ErrDamaged
	}
	return nil
}

// fetch reads a record or its body, which begins at offset in the file, into buf: the bytes from from to to. At the end of the file there may be
// fewer.
func (h *Hit) fetch(from, offset, to int64) error {
	if int64(cap(h.buf)) < to {
		b := buffers.take(int(to))
		copy(b, h.buf[:from])
		buffers.give(h.buf)
		h.buf = b
	}
	h.buf = h.buf[:to]
	n, err := h.r.readAt(h.seg.file.Load(), h.buf[from:], offset+from)
	switch {
	case errors.Is(err, io.EOF):
		h.buf = h.buf[:from+int64(n)]
		return nil
	case errors.Is(err, ErrSlow):
		h.buf = nil // a reader may still use it
	}
	return err
}

// ReadAt implements io.ReaderAt for the body. The bytes it returns were checked. The error is io.EOF, ErrDamaged, ErrSlow or one of the file
// system.
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
	if at == offset && int64(len(p)) >= length { // p has room for the whole chunk
		file := int64(h.at.Offset)*layout.Unit + h.head.BodyAt + at
		if h.seg.file.Load().ReadNow(p[:length], file) {
			return int(length), h.checked(p[:length], at)
		}
	}
	if h.chunkAt != at {
		h.chunkAt = -1
		if int64(cap(h.chunk)) < length {
			h.chunk = buffers.take(layout.ChunkBytes)
		}
		h.chunk = h.chunk[:length]
		got, err := h.r.readAt(h.seg.file.Load(), h.chunk, int64(h.at.Offset)*layout.Unit+h.head.BodyAt+at)
		if errors.Is(err, ErrSlow) {
			h.chunk = nil // a reader may still use it
			return 0, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			h.r.reject(h.hash, h.at, err)
			return 0, err
		}
		if err := h.checked(h.chunk[:got], at); err != nil {
			return 0, err
		}
		h.chunkAt = at
	}
	return copy(p, h.chunk[offset-at:]), nil
}

// checked returns ErrDamaged if b is not the chunk at offset at, and removes the record then.
func (h *Hit) checked(b []byte, at int64) error {
	if int64(len(b)) == min(layout.ChunkBytes, h.size-at) && h.head.Check(b, at) {
		return nil
	}
	h.r.reject(h.hash, h.at, ErrDamaged)
	return ErrDamaged
}

// File returns the file that has the body, and the body's offset there, for sendfile. It returns false if the body is in memory, or if sendfile
// from the file system is not safe (device.CanDetach). Nobody has checked the bytes: see Check. The file belongs to the Store. The body stays in
// it until Close, and bytes that the system has taken by then never change.
func (h *Hit) File() (f *os.File, offset int64, ok bool) {
	if !h.Lends() {
		return nil, 0, false
	}
	file, offset, _ := h.file()
	h.seg.lend(int64(h.at.Offset) * layout.Unit)
	return file.OS(), offset, true
}

// Lends reports whether File returns a file.
func (h *Hit) Lends() bool {
	_, _, ok := h.file()
	return ok && h.r.lends.Load()
}

func (h *Hit) file() (f *device.File, offset int64, ok bool) {
	if h.seg == nil || h.Body != nil {
		return nil, 0, false
	}
	return h.seg.file.Load(), int64(h.at.Offset)*layout.Unit + h.head.BodyAt, true
}

// Check reads length bytes of the body from offset on, and returns an error as ReadAt does. After it they are in the page cache. A record with
// many hits was perhaps read and checked before: then it is not read again within proofLasts, if the bytes are still in the page cache and the
// file has not changed. Bytes that were just checked are not checked again.
func (h *Hit) Check(offset, length int64) error {
	part := span{offset, length}
	if h.ready == part {
		h.ready = span{}
		return nil
	}
	if err := h.check(offset, min(offset+length, h.size)); err != nil {
		return err
	}
	h.ready = part
	return nil
}

// check is Check of bytes that end before end.
func (h *Hit) check(offset, end int64) error {
	if offset >= end {
		return nil
	}
	p := h.proofOf(h.r.o.Now())
	if p != nil && p.has(offset/layout.ChunkBytes, (end-1)/layout.ChunkBytes) {
		if f, at, ok := h.file(); ok && f.Resident(at+offset, end-offset) {
			return nil
		}
	}
	for ; offset < end; offset = offset&^(layout.ChunkBytes-1) + layout.ChunkBytes {
		h.chunkAt = -1 // the chunk read before may have changed since
		var one [1]byte
		if _, err := h.readSome(one[:], offset); err != nil {
			return err
		}
		if p != nil {
			p.add(offset / layout.ChunkBytes)
		}
	}
	return nil
}
