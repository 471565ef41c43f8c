package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// longestLogLine bounds a line of the log in bytes. Longer lines are skipped.
const longestLogLine = 1 << 20

// tail reads the lines that are added to a log, across rotations. It reads a renamed file to its
// end before the file that took its place, and starts again at the beginning of a truncated file. It
// is not safe for concurrent use.
type tail struct {
	path     string
	file     *os.File
	offset   int64
	partial  []byte // the last line so far, without its line feed
	skipping bool   // the last line is too long: drop the rest of it
}

// openTail opens the log at path at its end or, with all, at its first line.
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

// read calls line for each complete line since the last call, without its line feed. The slice is valid
// during the call only.
func (t *tail) read(line func([]byte)) error {
	if err := t.drain(line); err != nil {
		return err
	}
	next, err := t.successor()
	if err != nil || next == nil {
		return err
	}
	// The log is written in order: if the next file has data, this one is complete.
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

// successor opens the file that has replaced t's, if it is not empty; nil: there is none.
func (t *tail) successor() (*os.File, error) {
	at, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no successor
	}
	own, ownErr := t.file.Stat()
	if err = errors.Join(err, ownErr); err != nil {
		return nil, err
	}
	if os.SameFile(at, own) || at.Size() == 0 {
		return nil, nil //nolint:nilnil // no successor yet
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // rotated again
	}
	return f, err
}

// drain reads the file to its end.
func (t *tail) drain(line func([]byte)) error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() < t.offset { // truncated
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		t.offset, t.partial, t.skipping = 0, t.partial[:0], false
	}
	var buf [64 << 10]byte
	for {
		n, err := t.file.Read(buf[:])
		t.offset += int64(n)
		t.split(buf[:n], line)
		switch {
		case errors.Is(err, io.EOF) || n == 0 && err == nil:
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", t.path, err)
		}
	}
}

// split calls line for each complete line of b. partial holds the beginning of the first, if any.
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
