package http2

import (
	"encoding/binary"
	"io"
	"net/http"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/http/message"
)

// block is the header block that is being read. It may come in several frames.
type block struct {
	limit     int // bytes, as HPACK counts
	id        uint32
	last      bool // it ends the stream
	itself    bool // the stream depends on itself
	fields    []hpack.HeaderField
	size      int
	came      int // bytes, as they were sent
	fragments int
}

// emit takes a field. What goes beyond the limit is decoded, for the table, and not kept.
func (r *reader) emit(f hpack.HeaderField) {
	b := &r.block
	if b.size += int(f.Size()); b.size > b.limit {
		r.decoder.SetEmitEnabled(false)
		return
	}
	b.fields = append(b.fields, f)
}

// headers reads the payload of a HEADERS frame with the head h (RFC 9113 section 6.2), which begins a block. Each
// request has one, so it is read in the buffer: the framer would allocate it.
func (r *reader) headers(h xhttp2.FrameHeader) error {
	if h.StreamID == 0 {
		return errProtocol
	}
	n := int(h.Length)
	if n > r.in.Size() {
		p := make([]byte, n)
		if _, err := io.ReadFull(r.in, p); err != nil {
			return err
		}
		return r.beginBlock(h, p)
	}
	p, err := r.in.Peek(n)
	if err != nil {
		return err
	}
	err = r.beginBlock(h, p)
	_, _ = r.in.Discard(n) // all n bytes are buffered
	return err
}

// beginBlock begins a block with the payload p of a HEADERS.
func (r *reader) beginBlock(h xhttp2.FrameHeader, p []byte) error {
	padding := 0
	if h.Flags.Has(xhttp2.FlagHeadersPadded) {
		if len(p) < 1 {
			return errSize
		}
		padding, p = int(p[0]), p[1:]
	}
	itself := false
	if h.Flags.Has(xhttp2.FlagHeadersPriority) {
		if len(p) < 5 {
			return errSize
		}
		itself, p = binary.BigEndian.Uint32(p)&(1<<31-1) == h.StreamID, p[5:]
	}
	if padding > len(p) {
		return errProtocol
	}
	b := &r.block
	*b = block{limit: b.limit, id: h.StreamID, last: h.Flags.Has(xhttp2.FlagHeadersEndStream), itself: itself, fields: b.fields[:0]}
	r.decoder.SetEmitEnabled(true)
	return r.fragment(p[:len(p)-padding], h.Flags.Has(xhttp2.FlagHeadersEndHeaders))
}

// fragment decodes a part of the block (RFC 9113 sections 4.3, 6.10). It bounds their number, because clients can
// send them without end.
func (r *reader) fragment(p []byte, end bool) error {
	b := &r.block
	b.came += len(p)
	b.fragments++
	if b.came > 2*b.limit || b.fragments > mostFragments {
		return errCalm
	}
	if _, err := r.decoder.Write(p); err != nil {
		return errTable
	}
	if first := b.fragments == 1; first != end { // it goes on for more than a frame
		r.c.mu.Lock()
		r.c.inHeader = first
		r.c.headers++
		r.c.mu.Unlock()
	}
	if !end {
		return nil
	}
	if err := r.decoder.Close(); err != nil {
		return errTable
	}
	err := r.blockEnded()
	if clear(b.fields); cap(b.fields) > 2*mostLines { // or an idle connection would keep them
		b.fields = nil
	}
	return err
}

// blockEnded handles a block that is complete: most begin a stream.
func (r *reader) blockEnded() error {
	c, b := r.c, &r.block
	if b.id%2 == 0 {
		return errProtocol
	}
	c.mu.Lock()
	s := c.streams[b.id]
	if s != nil || b.id <= c.lastID {
		known, reset := c.recent.find(b.id)
		c.mu.Unlock()
		switch {
		case s != nil:
			return r.trailers(s)
		case reset: // the client may not know yet
			return r.payIdle()
		case known:
			return errStream
		}
		return errProtocol // RFC 9113 section 5.1.1
	}
	if c.leaving == goAwayFinal { // the client does not know yet, and will retry on another connection
		c.mu.Unlock()
		return r.payIdle()
	}
	c.lastID = b.id
	if len(c.streams) >= c.s.o.Streams || c.working >= 2*c.s.o.Streams || b.itself {
		code := xhttp2.ErrCodeRefusedStream
		if b.itself {
			code = xhttp2.ErrCodeProtocol
		}
		c.out.reset(b.id, code)
		c.recent.add(b.id, true)
		c.mu.Unlock()
		return r.payReset()
	}
	c.hasRequest = true
	s = c.newStreamLocked(b.id)
	s.halfClosed = b.last
	c.mu.Unlock()
	r.useful()
	r.request(s)
	return nil
}

// request makes a request from the block and begins its answer.
func (r *reader) request(s *stream) {
	c, b := r.c, &r.block
	q := &s.request
	*q = message.Request{Received: now(), Version: message.HTTP2, Conn: s, Deadlines: s, TakesTrailers: true, Interim: s.sendInterim}
	h, wellFormed := s.fill(b.fields, b.last)
	s.expects = h.expects
	switch {
	case b.size > b.limit || sizeInHTTP1(b.fields) > c.s.o.HeaderBytes:
		q.Lines, q.Fault = nil, &message.Fault{Status: http.StatusRequestHeaderFieldsTooLarge}
	case !wellFormed:
		s.malformed = true
		q.Lines, q.Fault = nil, &message.Fault{Status: http.StatusBadRequest}
	case !b.last:
		q.Body = &s.up
	}
	s.settle(&h)
	c.reportState()
	c.begin(s)
}

// settle applies what the header says about content and priority.
func (s *stream) settle(h *head) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.up = upload{s: s, length: h.length, announced: h.announced}
	s.priority = s.c.priorityLocked(s.id, h)
	s.shared = s.shared || s.request.Body != nil // the engine may read it for longer
}

// priorityLocked returns the priority of a stream that begins.
func (c *conn) priorityLocked(id uint32, h *head) priority {
	if p, ok := c.updates[id]; ok { // later than the field
		delete(c.updates, id)
		return p
	}
	if h.hasPriority {
		c.prioritizes = true
		return parsePriority(h.priority, usual)
	}
	if !c.prioritizes || h.forMany {
		return equal
	}
	return usual
}

// trailers ends the content of a request (RFC 9113 section 8.1).
func (r *reader) trailers(s *stream) error {
	c, b := r.c, &r.block
	r.useful()
	list, ok := trailerFields(b.fields)
	c.mu.Lock()
	defer c.mu.Unlock()
	var code xhttp2.ErrCode
	switch {
	case s.done:
		return nil
	case s.halfClosed:
		code = xhttp2.ErrCodeStreamClosed
	case !b.last || !ok || b.size > b.limit || !s.up.addLocked(nil, true):
		code = xhttp2.ErrCodeProtocol
	default:
		s.halfClosed = true
		s.up.trailers = list
		return nil
	}
	return xhttp2.StreamError{StreamID: s.id, Code: code, Cause: errFrames}
}
