package http2

import (
	"time"

	"edgeproxy/internal/http/message"
)

// scratch is the memory in which a request and its answer are built. It belongs to a stream.
type scratch struct {
	lines  []message.Line
	bytes  []byte
	answer []byte // Answer.Lines
}

const (
	mostSpare   = 32          // streams that a connection keeps for those that come next
	spareTime   = time.Second // for so long: most connections are idle
	mostScratch = 2 << 10     // bytes of each
	mostLines   = 32          // and lines: more than browsers send
)

// spareLocked returns a stream that has served its request, or a new one. Only the reader begins
// streams, so it and the writer hold no old pointer to the stream when it is used again.
func (c *conn) spareLocked() *stream {
	if n := len(c.spare); n > 0 {
		s := c.spare[n-1]
		c.spare[n-1] = nil
		c.spare = c.spare[:n-1]
		return s
	}
	s := &stream{scratch: &scratch{}}
	s.sendInterim = s.interim
	return s
}

// keepLocked keeps a stream that has ended for another request, if nobody else can have a pointer to it. A
// holder of something for the answer has one by Request.Conn.
func (c *conn) keepLocked(s *stream) {
	b := s.scratch
	if s.shared || s.answer.Held != nil || c.dead || len(c.spare) >= mostSpare {
		return
	}
	b.answer = s.answer.Lines
	if cap(b.bytes)+cap(b.answer) > mostScratch || cap(b.lines) > mostLines {
		*b = scratch{}
	}
	clear(b.lines)
	b.lines, b.bytes, b.answer = b.lines[:0], b.bytes[:0], b.answer[:0]
	s.request, s.answer = message.Request{}, message.Answer{} // they keep what they were made from
	c.spare = append(c.spare, s)
}

// text returns a copy of t that lives as long as s is in use.
func (s *scratch) text(t string) []byte {
	at := len(s.bytes)
	s.bytes = append(s.bytes, t...)
	return s.bytes[at:len(s.bytes):len(s.bytes)]
}
