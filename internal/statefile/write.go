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
	"strings"
)

const (
	tempSuffix  = ".tmp"
	bufferBytes = 256 << 10
)

// Write replaces the file at path by what write puts out, or leaves it as it is
// and returns an error. It takes these steps, each of which a kill may be the
// last to leave behind:
//
//  1. remove temporary files that an earlier, killed Write left,
//  2. create one in the same directory, readable by its owner only,
//  3. write the content to it, and fsync it,
//  4. rename it to path,
//  5. fsync the directory, so that the rename lasts.
//
// When step 5 fails the new content stands at path and may be lost with the
// power. An error of write is returned wrapped. The writer it is handed is
// buffered and ends with the call. path must name a regular file or nothing;
// path.*.tmp, with digits for the star, belongs to Write.
//
// Simultaneous calls for one path harm no file, but may remove each other's
// temporary one, so that one of them fails.
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
	temp, err := os.CreateTemp(dir, base+".*"+tempSuffix) // mode 0600
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := fill(temp, write); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
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

// removeLeftovers removes the temporary files of killed Writes, so that they
// never add up.
func removeLeftovers(dir, base string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !isTemp(f.Name(), base) || !f.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isTemp reports whether name is base, a dot, digits and the suffix.
func isTemp(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok {
		return false
	}
	digits, ok := strings.CutSuffix(rest, tempSuffix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
