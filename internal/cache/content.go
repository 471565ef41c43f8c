package cache

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Content is what a stored response consists of besides its head. It lies in memory, or in a
// File and is read by offset. It never changes, is safe for concurrent use, and may be read
// for as long as anybody refers to it, also when its entry has left the cache. The zero Content
// is empty and in memory.
type Content struct {
	bytes []byte
	kept  *kept // nil: in memory
}

// kept is content in a File, and in how many places of the Store it is.
type kept struct {
	File
	apart  bool // not counted as part of MaxBytes
	places int  // the writer's
}

// land notes one more place of the Store that has the content.
func (c Content) land() {
	if c.kept != nil {
		c.kept.places++
	}
}

// leave takes back one land, and returns what no place has any more; nil: nothing.
func (c Content) leave() File {
	if c.kept == nil {
		return nil
	}
	if c.kept.places--; c.kept.places > 0 {
		return nil
	}
	return c.kept.File
}

// tellFile tells the File of the content of o, if it has one, that o has it now.
func (o *Object) tellFile() {
	if c := o.Content(); c.kept != nil {
		c.kept.Update(o.Entry())
	}
}

// InMemory returns b as content. Nobody may write to b from then on.
func InMemory(b []byte) Content { return Content{bytes: b} }

// Size returns the length of the content in bytes.
func (c Content) Size() int64 {
	if c.kept != nil {
		return c.kept.Size()
	}
	return int64(len(c.bytes))
}

// cost returns how many bytes of it count as part of MaxBytes.
func (c Content) cost() int64 {
	if c.kept != nil && c.kept.apart {
		return 0
	}
	return c.Size()
}

// Bytes returns all of the content if it lies in memory. Nobody may write to it. Otherwise it is
// nil, and false.
func (c Content) Bytes() (b []byte, ok bool) { return c.bytes, c.kept == nil }

// InFile reports whether the content is not in memory, so that to read it may wait, and fail.
func (c Content) InFile() bool { return c.kept != nil }

// ReadAt implements io.ReaderAt.
func (c Content) ReadAt(p []byte, offset int64) (int, error) {
	if c.kept != nil {
		return c.kept.ReadAt(p, offset)
	}
	if offset >= int64(len(c.bytes)) {
		return 0, io.EOF
	}
	n := copy(p, c.bytes[max(offset, 0):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// OnDisk reports whether the content lies in a file of the disk that the system may send from; see Part.
func (c Content) OnDisk() bool {
	if c.kept == nil {
		return false
	}
	f, ok := c.kept.File.(*onDisk)
	return ok && f.lends()
}

// Part returns the file where length bytes of content that is OnDisk lie from offset on, and where they begin there. They were checked. The
// file is the disk's, and stays as it is until Release of what has the content. It may wait, as reading does.
func (c Content) Part(offset, length int64) (file *os.File, at int64, err error) {
	f, ok := c.kept.File.(*onDisk)
	if !ok {
		return nil, 0, errors.ErrUnsupported
	}
	return f.part(offset, length)
}

// Section returns a reader of length bytes of the content from offset on.
func (c Content) Section(offset, length int64) *io.SectionReader {
	return io.NewSectionReader(c, offset, length)
}

// same reports whether both are known to be the same bytes. It reads no File.
func (c Content) same(other Content) bool {
	switch {
	case c.kept == nil && other.kept == nil:
		return bytes.Equal(c.bytes, other.bytes)
	case c.kept != nil && other.kept != nil:
		return c.kept == other.kept || c.kept.Same(other.kept.File)
	}
	return false
}
