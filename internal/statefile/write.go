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

// Write replaces the file at path by what write puts out, or leaves it as it is
// and returns an error. It takes these steps, each of which a kill may be the
// last to leave behind:
//
//  1. remove temporary files that an earlier, killed Write left,
//  2. create one in the same directory, readable by its owner only, and lock it,
//  3. write the content to it, and fsync it,
//  4. rename it to path,
//  5. fsync the directory, so that the rename lasts.
//
// When step 5 fails the new content stands at path and may be lost with the
// power. An error of write is returned wrapped. The writer it is handed is
// buffered and ends with the call. path must name a regular file or nothing;
// path.*.tmp, with digits for the star, belongs to Write.
//
// Simultaneous calls for one path, of one process or of several, do not disturb
// each other: the lock tells a temporary file in use from one left behind, and
// goes with its owner. Where files cannot be locked (flock, on the systems of
// claim_unix.go) the later call may remove the temporary file of the earlier,
// which then fails and harms nothing.
func Write(path string, write func(io.Writer) error) error {
	if err := replace(path, write); err != nil {
		return fmt.Errorf("write state file %s: %w", path, err)
	}
	return nil
}

func replace(path string, write func(io.Writer) error) error {
	if _, err := regular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
		_ = temp.Close() // it is synced; its lock protects it until it has its name
	}()
	if err := fill(temp, write); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// fill writes header and content to f and sees them onto the disk. The header
// comes last, since it has the length: until then the file is torn.
func fill(f *os.File, write func(io.Writer) error) error {
	if _, err := f.Write(make([]byte, headerBytes)); err != nil {
		return err
	}
	content := &summer{w: f, table: castagnoli()}
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

// summer passes on what is written, counts and sums it.
type summer struct {
	w      io.Writer
	table  *crc32.Table
	sum    uint32
	length uint64
}

func (s *summer) Write(b []byte) (int, error) {
	if s.length+uint64(len(b)) > MaxBytes {
		return 0, ErrTooLarge
	}
	n, err := s.w.Write(b)
	s.sum = crc32.Update(s.sum, s.table, b[:n])
	s.length += uint64(n)
	return n, err
}

// regular returns what is known of the regular file that path names itself, not
// by a link.
func regular(path string) (os.FileInfo, error) {
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
