package http2

import (
	"slices"
	"sync"

	xhttp2 "golang.org/x/net/http2"
)

// buffers are for the bytes being written. A connection has one only while it writes, as most
// connections are idle.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, recordBytes)
	return &b
}}

// write writes what is ready until the connection ends. Where a panic ends it, that ends the
// connection.
func (c *conn) write() {
	well := false
	defer func() {
		if !well {
			c.kill()
		}
	}()
	for range c.wake {
		for more := true; more; {
			var over bool
			if more, over = c.flush(); over {
				well = true
				return
			}
		}
	}
}

// dueLocked reports whether something is to be written, as far as is known.
func (c *conn) dueLocked() bool {
	o := &c.out
	return len(o.control) > 0 || len(o.noWindow) > 0 || c.in.credit >= connWindow/4 || c.leaving == goAwayFinal ||
		o.window > 0 && o.ready.count > 0
}

// flush writes what is ready, at most about one record of TLS. It reports whether something was ready, and
// whether nothing more will be.
func (c *conn) flush() (wrote, over bool) {
	buffer := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= 4*recordBytes {
			buffers.Put(buffer)
		}
	}()
	b, state := c.fill((*buffer)[:0])
	*buffer = b[:0]
	switch {
	case state == ended:
		return false, true
	case state == flooded:
		c.s.o.Log.Debug("HTTP/2 connection closed", "client", c.nc.RemoteAddr().String(), "error", "the client does not read the responses to its control frames")
		c.kill()
		return false, true
	case len(b) == 0:
		left := state == left
		if left { // the reader ends it, and drops what comes until then
			_ = c.nc.SetReadDeadline(now().Add(lingering))
		}
		return false, left
	}
	c.writes.Add(1)
	_, err := c.nc.Write(b)
	c.writes.Add(1)
	c.settle()
	if err != nil {
		c.kill()
		return false, true
	}
	return true, false
}

// What is left to write.
const (
	open    = iota // something may come
	left           // nothing follows: the client knows which stream is the last, and that was answered
	flooded        // the client takes no answers to its control frames
	ended          // nobody takes anything any more
)

// fill appends frames to b. The unlock is deferred: if a panic left the mutex locked, the sweeper of all
// connections would wait for it.
func (c *conn) fill(b []byte) (filled []byte, state int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return b, ended
	}
	filled = c.fillLocked(b)
	switch {
	case c.out.flooded:
		state = flooded
	case c.leaving == goAwayFinal && len(c.streams) == 0 && len(c.out.touched) == 0:
		state = left
	}
	return filled, state
}

// fillLocked appends frames to b: first control frames, then heads and ends, then content.
func (c *conn) fillLocked(b []byte) []byte {
	o := &c.out
	b = append(b, o.control...)
	o.control = o.control[:0]
	if c.in.credit >= connWindow/4 {
		b = grant(b, 0, c.in.grant())
	}
	done := 0
	for _, s := range o.noWindow {
		if len(b) >= recordBytes {
			break
		}
		done++
		if s.inNoWindow {
			s.inNoWindow = false
			b = c.fillPlain(b, s)
		}
	}
	o.noWindow = slices.Delete(o.noWindow, 0, done)
	for o.window > 0 {
		s := o.ready.next()
		room := recordBytes - len(b) - headBytes
		if s == nil || room < min(s.content.left, leastPiece) {
			break
		}
		b = c.fillContent(b, s, room)
	}
	return b
}

// leastPiece is what a frame of content has at least, where there is more: rather than a
// smaller one, the next record has it.
const leastPiece = 1 << 10

// fillPlain appends the frames of s that no window limits.
func (c *conn) fillPlain(b []byte, s *stream) []byte {
	o := &c.out
	if s.done {
		return b
	}
	if s.in.credit >= streamWindow/4 && !s.halfClosed {
		b = grant(b, s.id, s.in.grant())
	}
	for _, i := range s.interims {
		o.encoder.head(i.status)
		o.encoder.fields(i.fields)
		b = o.headers(b, s.id, false)
	}
	s.interims = nil
	if s.headDue {
		s.headDue = false
		s.encode(&o.encoder)
		end := s.last && s.content.left == 0 && len(s.trailers) == 0
		b = o.headers(b, s.id, end)
		c.touch(s)
		if end {
			return c.over(b, s)
		}
		o.queueContent(s)
	}
	if s.last && s.content.left == 0 && !s.done {
		return c.fillEnd(b, s)
	}
	return b
}

// fillEnd appends the end of s, behind all of its content.
func (c *conn) fillEnd(b []byte, s *stream) []byte {
	c.touch(s)
	if len(s.trailers) == 0 {
		b = frame(b, 0, xhttp2.FrameData, xhttp2.FlagDataEndStream, s.id)
		return c.over(b, s)
	}
	e := &c.out.encoder
	if e.trailers(s.trailers); len(e.block) == 0 { // none of them may be sent
		b = frame(b, 0, xhttp2.FrameData, xhttp2.FlagDataEndStream, s.id)
		return c.over(b, s)
	}
	return c.over(c.out.headers(b, s.id, true), s)
}

// fillContent appends a frame of the content of s, of at most room bytes.
func (c *conn) fillContent(b []byte, s *stream, room int) []byte {
	o := &c.out
	n := int(min(int64(room), int64(s.content.left), s.window, o.window, frameBytes))
	end := s.last && n == s.content.left && len(s.trailers) == 0
	var flags xhttp2.Flags
	if end {
		flags = xhttp2.FlagDataEndStream
	}
	b = frame(b, n, xhttp2.FrameData, flags, s.id)
	b = s.content.appendTo(b, n)
	s.window -= int64(n)
	o.window -= int64(n)
	s.taken.Add(int64(n))
	c.unpaidFrames.Add(1)
	c.contentSent.Add(int64(n))
	c.touch(s)
	switch {
	case end:
		return c.over(b, s)
	case s.content.left == 0 || s.window == 0:
		o.ready.remove(s)
		if s.content.left == 0 && s.last { // trailers
			o.queueFrames(s)
		}
	}
	return b
}

// over ends s, whose last frame is in b. If the client has not sent all of its request, over resets the
// stream (RFC 9113 section 8.1).
func (c *conn) over(b []byte, s *stream) []byte {
	switch {
	case s.malformed:
		b = reset(b, s.id, xhttp2.ErrCodeProtocol)
	case !s.halfClosed:
		b = reset(b, s.id, xhttp2.ErrCodeNo)
	}
	c.recent.add(s.id, !s.halfClosed || s.malformed)
	if s.closesConn && c.leaving == staying {
		c.leaving = goAwayWarned
		c.out.goAway(1<<31-1, xhttp2.ErrCodeNo)
		c.out.ping(goAwayPing)
	}
	s.dropLocked()
	return b
}

// touch notes that the write under way has something of s.
func (c *conn) touch(s *stream) {
	if !s.flushing {
		s.flushing = true
		c.out.touched = append(c.out.touched, s)
	}
}

// settle wakes the streams of which something was written, or could not be written.
func (c *conn) settle() {
	ended := c.ending[:0]
	c.mu.Lock()
	for i, s := range c.out.touched {
		s.flushing = false
		if s.done && !s.hasWorker && !s.finished {
			ended = append(ended, s)
		} else {
			s.cond.Broadcast()
		}
		c.out.touched[i] = nil
	}
	c.out.touched = c.out.touched[:0]
	c.mu.Unlock()
	for _, s := range ended {
		s.finish()
	}
	if len(ended) > 0 {
		c.reportState()
	}
	clear(ended)
	c.ending = ended[:0]
}
