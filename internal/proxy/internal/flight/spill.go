package flight

import "io"

// SpoolFile is a file for bytes that do not fit into memory. Close removes it. Its offsets are not
// those of the body.
type SpoolFile interface {
	io.ReaderAt
	io.WriterAt
	// Reset forgets what was written.
	Reset() error
	Close() error
}

// spillRead is the most that is read from a spool file at once.
const spillRead = 64 << 10

// spill is the part of one body that is on disk: its bytes from offset from up to offset end. The
// bytes from end on are in memory. Only the writer writes. It is kept while a reader needs it.
type spill struct {
	file      SpoolFile // nil: there is none
	from, end int64
}

func (s spill) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

func (s spill) holds(offset int64) bool {
	return s.file != nil && s.from <= offset && offset < s.end
}

// takeSpillLocked returns the spill once the body has ended and nobody reads. The caller then owns
// it, and closes it without the lock.
func (b *body) takeSpillLocked() (done spill) {
	if b.ended && b.reading == 0 {
		done, b.spill = b.spill, spill{}
	}
	return done
}

// spillOldest writes the oldest piece to disk, so that the writer need not wait. If that fails, the
// body uses no disk from then on. Only the writer calls it.
func (b *body) spillOldest() {
	b.mu.Lock()
	b.trimLocked()
	if len(b.chunks) == 0 {
		b.mu.Unlock()
		return
	}
	fresh := b.slowestLocked() >= b.first // nobody needs what is on disk
	if !fresh && b.spill.end != b.first { // there is a gap, which must not be read
		b.spill.end = b.spill.from
		b.leaveBehindLocked(b.first)
		fresh = true
	}
	piece, s := b.chunks[0], b.spill
	if s.end = b.first; fresh {
		s.from = b.first
	}
	b.mu.Unlock()

	err := s.write(piece, b.spool, fresh)

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spill = s; err != nil {
		b.spool = nil
		return
	}
	if b.spill.end += int64(len(piece)); b.first == s.end {
		b.dropLocked() // if it was not dropped meanwhile
	}
}

// write appends piece to the file. With fresh it first empties the file. If there is none, it opens
// one.
func (s *spill) write(piece []byte, open func() (SpoolFile, error), fresh bool) (err error) {
	switch {
	case s.file == nil:
		if s.file, err = open(); err != nil {
			s.file = nil
			return err
		}
	case fresh:
		if err = s.file.Reset(); err != nil {
			return err
		}
	}
	_, err = s.file.WriteAt(piece, s.end-s.from)
	return err
}

// spilledLocked is next for a reader whose next bytes are on disk. It releases the lock to read.
func (b *body) spilledLocked(c *cursor, most int) ([]byte, error) {
	s := b.spill
	n := min(int64(most), spillRead, s.end-c.offset)
	b.mu.Unlock()
	p := make([]byte, n)
	m, err := s.file.ReadAt(p, c.offset-s.from)
	b.mu.Lock()
	switch {
	case c.left:
		return nil, errLeft
	case c.behind: // what was read may have been written over meanwhile
		return nil, ErrBehind
	case err != nil && int64(m) < n:
		b.markBehindLocked(c)
		return nil, ErrBehind
	}
	b.advanceLocked(c, int(n))
	return p, nil
}
