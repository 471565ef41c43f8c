package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// longestLogLine is the longest line of a log that is kept. The rest of a longer one is passed
// over.
const longestLogLine = 1 << 20

// tail reads the lines that are added to a log, over its rotations: a file that was renamed is read
// to its end before the one that has its place now, and one that was cut is read from its
// beginning. One goroutine uses it.
type tail struct {
	path     string
	file     *os.File
	offset   int64
	partial  []byte // of the last line
	skipping bool   // the last line is too long
}

// openTail opens the log at path; with all from its first line, else from its end.
func openTail(path string, all bool) (*tail, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &tail{path: path, file: f}
	if all {
		return t, nil
	}
	if t.offset, err = f.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func (t *tail) Close() error { return t.file.Close() }

// read gives each whole line that has come since the last call, without its line feed. A line is
// valid until the next one.
func (t *tail) read(line func([]byte)) error {
	if err := t.drain(line); err != nil {
		return err
	}
	next, err := t.successor()
	if err != nil || next == nil {
		return err
	}
	// The log is written in order: where the next file has something, this one has all.
	if err := t.drain(line); err != nil {
		return errors.Join(err, next.Close())
	}
	old := t.file
	t.file, t.offset, t.partial, t.skipping = next, 0, t.partial[:0], false
	if err := old.Close(); err != nil {
		return err
	}
	return t.drain(line)
}

// successor opens the file that has taken the place of t's and has something in it; nil: there is
// none.
func (t *tail) successor() (*os.File, error) {
	at, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // as it says
	}
	own, ownErr := t.file.Stat()
	if err = errors.Join(err, ownErr); err != nil {
		return nil, err
	}
	if os.SameFile(at, own) || at.Size() == 0 {
		return nil, nil //nolint:nilnil // as above
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // rotated again
	}
	return f, err
}

// drain reads what the file has.
func (t *tail) drain(line func([]byte)) error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() < t.offset { // cut
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		t.offset, t.partial, t.skipping = 0, t.partial[:0], false
	}
	var room [64 << 10]byte
	for {
		n, err := t.file.Read(room[:])
		t.offset += int64(n)
		t.split(room[:n], line)
		switch {
		case errors.Is(err, io.EOF) || n == 0 && err == nil:
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", t.path, err)
		}
	}
}

// split takes lines out of b, the first of which partial may have begun.
func (t *tail) split(b []byte, line func([]byte)) {
	for {
		part, rest, whole := bytes.Cut(b, []byte{'\n'})
		if t.skipping = t.skipping || len(t.partial)+len(part) > longestLogLine; t.skipping {
			t.partial = t.partial[:0]
		} else {
			t.partial = append(t.partial, part...)
		}
		if !whole {
			return
		}
		if !t.skipping {
			line(t.partial)
		}
		t.partial, t.skipping, b = t.partial[:0], false, rest
	}
}
