package statefile

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const bufferBytes = 256 << 10

// Write replaces the file at path by what write writes. On an error it leaves the file
// unchanged. It takes these steps; a kill may stop it after any of them:
//
//  1. remove temporary files that an earlier, killed Write left,
//  2. create one in the same directory, readable by its owner only, and lock it,
//  3. write the content to it, and fsync it,
//  4. rename it to path,
//  5. fsync the directory, so that the rename lasts.
//
// If step 5 fails, path has the new content, which a loss of power may undo. An error of
// write is returned wrapped. The writer that write gets is buffered, and only valid during
// the call. path must name a regular file or nothing. Files path.*.tmp, with digits for the
// star, belong to Write.
//
// Concurrent calls for one path, of one process or of several, do not disturb each other:
// a temporary file in use is locked, one left behind is not, because the lock ends with its
// process. Without file locks (flock, on the systems of lock_unix.go) the later call may
// remove the temporary file of the earlier one, which then fails without harm.
func Write(path string, write func(io.Writer) error) error {
	if err := replace(path, write); err != nil {
		return fmt.Errorf("write state file %s: %w", path, err)
	}
	return nil
}

func replace(path string, write func(io.Writer) error) error {
	if _, err := lstatRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir) // "" is "."
	if err := removeLeftovers(dir, base); err != nil {
		return err
	}
	temp, err := createTemp(dir, base)
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			_ = os.Remove(temp.Name())
		}
		_ = temp.Close() // it is synced; the lock protects it until it is renamed
	}()
	if err := writeContent(temp, write); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// writeContent writes header and content to f, and syncs them. It writes the header last:
// without it the file is torn.
func writeContent(f *os.File, write func(io.Writer) error) error {
	if _, err := f.Write(make([]byte, headerBytes)); err != nil {
		return err
	}
	content := &checksumWriter{w: f, table: castagnoli()}
	buffer := bufio.NewWriterSize(content, bufferBytes)
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if _, err := f.WriteAt(header{sum: content.sum, length: content.length}.encode(), 0); err != nil {
		return err
	}
	return f.Sync()
}

// checksumWriter writes to w, counts the bytes and computes their checksum.
type checksumWriter struct {
	w      io.Writer
	table  *crc32.Table
	sum    uint32
	length uint64
}

func (s *checksumWriter) Write(b []byte) (int, error) {
	if s.length+uint64(len(b)) > MaxBytes {
		return 0, ErrTooLarge
	}
	n, err := s.w.Write(b)
	s.sum = crc32.Update(s.sum, s.table, b[:n])
	s.length += uint64(n)
	return n, err
}

// lstatRegular returns the FileInfo of a regular file. A link is refused.
func lstatRegular(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %v", ErrIrregular, info.Mode().Type())
	}
	return info, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
