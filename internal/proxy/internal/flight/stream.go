package flight

import "net/netip"

// Stream is a body for one client alone. Its writer runs ahead of the client as far as memory,
// and then disk, permit. One goroutine writes, by Space, Commit and End; another one reads.
// The writer must call End, and the reader Close.
type Stream struct {
	body   body
	cursor cursor
}

// Stream returns a Stream for a client. It uses the budget and the spool of t.
func (t *Table[K, H]) Stream(c netip.Prefix) *Stream {
	s := &Stream{}
	s.body.begin(t.bodyOptions, c, 0)
	s.body.windowed = true
	s.body.enter(&s.cursor)
	return s
}

// Space returns memory for the next bytes: read into it, then Commit. It waits for the reader
// while there is none.
func (s *Stream) Space() []byte {
	for {
		room, needs, _ := s.body.space(-1)
		if needs == needNothing {
			return room
		}
		s.body.spillOldest()
	}
}

// Commit adds n bytes, written to what Space returned.
func (s *Stream) Commit(n int) { s.body.commit(n, false) }

// End says that no more will come: whole with a nil err.
func (s *Stream) End(err error) { s.body.end(err) }

// Next is like Reader.Next, but never returns ErrBehind.
func (s *Stream) Next() ([]byte, error) { return s.body.next(&s.cursor, maxRead) }

// Read is Next as an io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	q, err := s.body.next(&s.cursor, len(p))
	return copy(p, q), err
}

// Close ends the reading. Space does not wait after that.
func (s *Stream) Close() {
	s.body.unpace()
	s.body.leave(&s.cursor).close()
}
