package compress

import "sync"

// sink takes what an encoder writes until it is read.
type sink struct {
	room  *[]byte // nil: none was taken
	given int     // bytes of it that were read
}

// mostKept bounds what lies in the pool: more is rarely needed at once.
const mostKept = 128 << 10

var sinkRooms = sync.Pool{New: func() any { b := make([]byte, 0, readBytes); return &b }}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	if s.room == nil {
		s.room, _ = sinkRooms.Get().(*[]byte)
	}
	*s.room = append(*s.room, p...)
	return len(p), nil
}

func (s *sink) len() int {
	if s.room == nil {
		return 0
	}
	return len(*s.room) - s.given
}

func (s *sink) empty() bool { return s.len() == 0 }

// read moves bytes to p. When the last was read the room is for others.
func (s *sink) read(p []byte) int {
	if s.empty() {
		return 0
	}
	n := copy(p, (*s.room)[s.given:])
	if s.given += n; s.empty() {
		s.drop()
	}
	return n
}

// drop gives the room back.
func (s *sink) drop() {
	if s.room == nil {
		return
	}
	if cap(*s.room) <= mostKept {
		*s.room = (*s.room)[:0]
		sinkRooms.Put(s.room)
	}
	s.room, s.given = nil, 0
}
