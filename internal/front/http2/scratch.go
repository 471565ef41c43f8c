package http2

import "edgeproxy/internal/message"

// scratch is what a request and its answer are made in. A connection keeps some for the
// streams that come next.
type scratch struct {
	lines  []message.Line
	bytes  []byte
	answer []byte // Answer.Lines
}

const (
	mostSpare   = 16      // that a connection keeps
	mostScratch = 2 << 10 // bytes of each
	mostLines   = 32      // and lines: more than browsers send
)

func (c *conn) scratchLocked() *scratch {
	if n := len(c.spare); n > 0 {
		s := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return s
	}
	return &scratch{}
}

func (c *conn) keepLocked(s *scratch) {
	if len(c.spare) >= mostSpare || cap(s.bytes)+cap(s.answer) > mostScratch || cap(s.lines) > mostLines {
		return
	}
	clear(s.lines)
	s.lines, s.bytes = s.lines[:0], s.bytes[:0]
	c.spare = append(c.spare, s)
}

// text returns a copy of t that lives as long as s is in use.
func (s *scratch) text(t string) []byte {
	at := len(s.bytes)
	s.bytes = append(s.bytes, t...)
	return s.bytes[at:len(s.bytes):len(s.bytes)]
}
