package trace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	spoolBytes  = 4 << 20 // kept in memory before a file is made
	replayBytes = 256 << 10
	batchLen    = 4096
)

// spool keeps requests in order. Each is two varints: the object with whether it was a
// HEAD, and the microseconds since the request before. Objects that come early, as popular
// ones do, have short numbers, so a request takes about 4 bytes. What does not fit into
// memory goes to a file.
type spool struct {
	limit int    // bytes of buf
	buf   []byte // what is not in the file
	last  int64  // microseconds

	file    *os.File // nil = all is in buf
	name    string   // name of a file that could not be unlinked while it is open
	written int64
}

func newSpool(limit int) *spool { return &spool{limit: limit} }

// add appends a request; at must not run backwards.
func (s *spool) add(object uint32, head bool, at int64) error {
	what := uint64(object) << 1
	if head {
		what |= 1
	}
	s.buf = binary.AppendUvarint(s.buf, what)
	s.buf = binary.AppendUvarint(s.buf, uint64(at-s.last))
	s.last = at
	if len(s.buf) < s.limit {
		return nil
	}
	return s.flush()
}

// flush moves the buffer to the file, and makes the file.
func (s *spool) flush() error {
	if s.file == nil {
		file, err := os.CreateTemp("", "edgeproxy-trace-")
		if err != nil {
			return fmt.Errorf("make a temporary file for the requests (TMPDIR names another folder for it): %w", err)
		}
		s.file = file
		// A file without a name is never left behind. Some systems do not unlink a file
		// that is open; then Close removes it.
		if os.Remove(file.Name()) != nil {
			s.name = file.Name()
		}
	}
	n, err := s.file.Write(s.buf)
	s.written += int64(n)
	if err != nil {
		return fmt.Errorf("keep the requests in a temporary file: %w", err)
	}
	s.buf = s.buf[:0]
	return nil
}

// seal ends the adding. All requests are then in the file, or in memory.
func (s *spool) seal() error {
	if s.file == nil {
		return nil
	}
	err := s.flush()
	s.buf = nil
	return err
}

// Close discards the requests. It may be called twice.
func (s *spool) Close() error {
	s.buf = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	if err != nil {
		return fmt.Errorf("remove the temporary file: %w", err)
	}
	return nil
}

// replay reads a sealed spool from its beginning. Several replays are independent.
func (s *spool) replay() *replay {
	var from io.ReaderAt = bytes.NewReader(s.buf)
	size := int64(len(s.buf))
	if s.file != nil {
		from, size = s.file, s.written
	}
	return &replay{from: bufio.NewReaderSize(io.NewSectionReader(from, 0, size), int(min(size, replayBytes)))}
}

type replay struct {
	from *bufio.Reader
	last int64
}

// fill reads the next len(batch) requests; At is in microseconds since the start.
func (r *replay) fill(batch []Access) error {
	for i := range batch {
		what, err := binary.ReadUvarint(r.from)
		if err != nil {
			return noEOF(err)
		}
		delta, err := binary.ReadUvarint(r.from)
		if err != nil {
			return noEOF(err)
		}
		r.last += int64(delta)
		batch[i] = Access{Object: uint32(what >> 1), Head: what&1 == 1, At: r.last}
	}
	return nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
