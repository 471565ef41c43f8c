package statefile

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// File is the verified content of a state file. ReadAt is safe for concurrent use,
// Read and Seek are not. A Write to the same path meanwhile does not change it.
type File struct {
	*io.SectionReader

	file    *os.File
	exposed bool
}

// Exposed reports whether users other than the owner may read or write the file. The
// next Write makes it private.
func (f *File) Exposed() bool { return f.exposed }

// Close releases the file. Reading fails from then on.
func (f *File) Close() error { return f.file.Close() }

// Open reads the file at path once to verify it, and returns its content. The caller
// closes it. Errors: fs.ErrNotExist, ErrForeign,
// ErrTorn, ErrIrregular, ErrTooLarge, a *VersionError, or another one of the
// file system.
//
// Open verifies the file as it is on the disk at that moment. It does not hold the
// content in memory, so reading it may still fail.
func Open(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open state file %s: %w", path, err)
	}
	return f, nil
}

func open(path string) (*File, error) {
	named, err := lstatRegular(path) // before opening: opening a pipe would block
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	state, err := verify(f, named)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return state, nil
}

// verify reads the whole of f, which must be the file that named describes.
func verify(f *os.File, named os.FileInfo) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, named) {
		return nil, fmt.Errorf("%w: replaced while it was opened", ErrIrregular)
	}
	first := make([]byte, headerBytes)
	n, err := io.ReadFull(f, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	h, err := decodeHeader(first[:n])
	if err != nil {
		return nil, err
	}
	switch {
	case h.length > MaxBytes:
		return nil, ErrTooLarge
	case info.Size() != headerBytes+int64(h.length):
		return nil, fmt.Errorf("%w: %d bytes of content: must be %d", ErrTorn, info.Size()-headerBytes, h.length)
	}
	content := io.NewSectionReader(f, headerBytes, int64(h.length))
	sum := crc32.New(castagnoli())
	if _, err := io.CopyBuffer(sum, content, make([]byte, bufferBytes)); err != nil {
		return nil, err
	}
	if sum.Sum32() != h.sum {
		return nil, fmt.Errorf("%w: checksum %08x: must be %08x", ErrTorn, sum.Sum32(), h.sum)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &File{SectionReader: content, file: f, exposed: info.Mode().Perm()&0o077 != 0}, nil
}
