package cache

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Content is the body of a stored response. It lies in memory, or in a File and is read by offset. It never changes,
// and is safe for concurrent use. It may be read as long as anybody refers to it, even after its entry has left the
// cache. The zero Content is empty and in memory.
type Content struct {
	bytes []byte
	kept  *fileContent // nil: in memory
}

// fileContent is content in a File.
type fileContent struct {
	File
	apart bool // not part of MaxBytes
}

// File is content outside of memory: complete, never changed, and read by offset. It is safe for concurrent use.
type File interface {
	io.ReaderAt
	// Size returns its length in bytes.
	Size() int64
}

// Kept returns f as content. It counts as part of MaxBytes, as content in memory does.
func Kept(f File) Content { return Content{kept: &fileContent{File: f}} }

// InMemory returns b as content. Nobody may write to b afterwards.
func InMemory(b []byte) Content { return Content{bytes: b} }

// Size returns the length of the content in bytes.
func (c Content) Size() int64 {
	if c.kept != nil {
		return c.kept.Size()
	}
	return int64(len(c.bytes))
}

// cost returns how many bytes of the content count as part of MaxBytes.
func (c Content) cost() int64 {
	if c.kept != nil && c.kept.apart {
		return 0
	}
	return c.Size()
}

// Bytes returns the content if it lies in memory; nobody may write to it. Otherwise it returns nil and false.
func (c Content) Bytes() (b []byte, ok bool) { return c.bytes, c.kept == nil }

// InFile reports whether the content lies in a File, so that reading it may wait and may fail.
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

// OnDisk reports whether the content lies in a file of the disk that sendfile may send from; see Part.
func (c Content) OnDisk() bool {
	if c.kept == nil {
		return false
	}
	f, ok := c.kept.File.(*onDisk)
	return ok && f.lends()
}

// Part returns the file that has length bytes of the content from offset on, and their offset in that file. The content
// must be OnDisk. Part has checked the bytes. The file belongs to the disk, and stays as it is until Release of the
// Object that has the content. Part may wait, as reading does.
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

// same reports whether both contents lie in memory and are the same bytes. It reads no File.
func (c Content) same(other Content) bool {
	return c.kept == nil && other.kept == nil && bytes.Equal(c.bytes, other.bytes)
}
