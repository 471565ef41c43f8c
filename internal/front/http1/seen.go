package http1

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// The log tells what a request asked for that is refused before its head was read whole. fasthttp keeps nothing of such a
// head, so conn keeps what fasthttp reads of it, in the buffer that the connection has for heads: buf[start:to].
//
// fasthttp reads ahead, so a read may have the end of one request and the beginning of the next. headRead finds out where the
// next one begins. If it cannot, nothing more is kept, and the log has nothing of a request that is refused.

// mostSeen bounds what is logged of the target, mostNameSeen that of the method and of the host.
const (
	mostSeen     = 4 << 10
	mostNameSeen = 256
)

// note keeps b, which fasthttp has read, if it is of a head. A chunked body it follows.
func (c *conn) note(b []byte) {
	if c.chunks != nil {
		c.chunks.follow(b)
	}
	if c.lost || len(b) == 0 {
		return
	}
	if c.skip > 0 {
		n := min(c.skip, int64(len(b)))
		c.skip -= n
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
	c.takeBuffer()
	if c.start > 0 && len(b) > len(*c.buf)-c.to {
		c.to = copy(*c.buf, (*c.buf)[c.start:c.to])
		c.start = 0
	}
	c.came += int64(len(b))
	c.to += copy((*c.buf)[c.to:], b)
	c.from = c.to
}

// seen returns what is known of the head that fasthttp reads.
func (c *conn) seen() []byte {
	if c.buf == nil {
		return nil
	}
	return (*c.buf)[c.start:c.to]
}

// headRead is called when fasthttp has read the head of a request. length is that of the body, as fasthttp has it; -1: it
// comes in chunks.
func (c *conn) headRead(h *fasthttp.RequestHeader, length int) {
	if c.resumed || c.lost { // it was called before
		c.resumed = false
		return
	}
	b := c.seen()
	n := headLength(b, len(h.RawHeaders()))
	if n >= 0 && length == -1 && c.came == int64(len(b)) {
		c.chunks = &chunks{most: c.server.o.HeaderBytes}
		c.chunks.follow(b[n:])
	}
	if n < 0 || length == -1 { // a chunked request is the last of its connection
		c.lose()
		return
	}
	behind := c.came - int64(n) - int64(max(length, 0)) // bytes of the next request that have come
	switch {
	case behind <= 0:
		c.start, c.came, c.skip = c.to, 0, -behind
		c.freeSeen()
	case c.came > int64(len(b)): // not all of it was kept
		c.lose()
	default:
		c.start, c.came = c.to-int(behind), behind
	}
}

// lose makes c keep nothing more.
func (c *conn) lose() {
	c.lost, c.start = true, c.to
	c.freeSeen()
}

// freeSeen gives back the buffer if nothing is in it.
func (c *conn) freeSeen() {
	if c.start == c.to && c.from == c.to {
		c.freeBuffer()
	}
}

// headLength returns the length of the head at the beginning of b, whose field lines, with the line behind them, have
// block bytes; 0: there are none. It returns -1 if b does not have all of it.
func headLength(b []byte, block int) (n int) {
	for {
		line, _, ended := bytes.Cut(b[n:], []byte{'\n'})
		if !ended {
			return -1
		}
		n += len(line) + 1
		if len(bytes.TrimSuffix(line, []byte{'\r'})) > 0 { // fasthttp passes over empty lines before the request line
			break
		}
	}
	if block == 0 {
		block = bytes.IndexByte(b[n:], '\n') + 1
	}
	if n += block; block == 0 || n > len(b) || b[n-1] != '\n' {
		return -1
	}
	return n
}

// seenOf returns what the beginning of a head says. cut says that more of it came than b.
func seenOf(b []byte, cut bool) *message.Seen {
	s := &message.Seen{}
	line, block, ended := bytes.Cut(bytes.TrimLeft(b, "\r\n"), []byte{'\n'})
	method, behind, named := bytes.Cut(line, []byte{' '})
	switch {
	case named && field.ValidName(method):
		s.Method = clip(method, mostNameSeen)
	case ended: // it is no request line
		s.Target = clip(bytes.TrimSuffix(line, []byte{'\r'}), mostSeen)
		return s
	default:
		return s
	}
	target, _, more := bytes.Cut(behind, []byte{' '})
	switch {
	case ended:
		target = bytes.TrimSuffix(behind, []byte{'\r'})
		if i := bytes.LastIndexByte(target, ' '); i >= 0 {
			if version := target[i+1:]; isVersion(version) {
				s.Protocol, target = string(version), target[:i]
			}
		}
	case !more && !cut: // the end of the target may not have come
		return s
	}
	s.Target, s.Host = clip(target, mostSeen), clip(hostIn(block), mostNameSeen)
	return s
}

// seenIn returns what a head says that fasthttp has read.
func seenIn(h *fasthttp.RequestHeader) *message.Seen {
	s := &message.Seen{Method: clip(h.Method(), mostNameSeen), Target: clip(h.RequestURI(), mostSeen), Host: clip(h.Host(), mostNameSeen)}
	if isVersion(h.Protocol()) {
		s.Protocol = string(h.Protocol())
	}
	return s
}

// isVersion reports whether b is a version of HTTP, known or not.
func isVersion(b []byte) bool {
	return len(b) == len("HTTP/1.1") && string(b[:5]) == "HTTP/" && b[6] == '.' && digits(b[5:6]) && digits(b[7:])
}

// hostIn returns the value of the first Host line that block has whole, nil if there is none.
func hostIn(block []byte) []byte {
	for {
		line, rest, ended := bytes.Cut(block, []byte{'\n'})
		if line = bytes.TrimSuffix(line, []byte{'\r'}); !ended || len(line) == 0 {
			return nil
		}
		if name, value, ok := bytes.Cut(line, []byte{':'}); ok && sameName(name, nameHost) {
			return bytes.Trim(value, " \t")
		}
		block = rest
	}
}

// clip copies at most n bytes of b: the buffer is used again.
func clip(b []byte, n int) []byte { return bytes.Clone(b[:min(len(b), n)]) }

// headBegan returns since when the head was waited for whose time is over; zero: that is not known.
func (c *conn) headBegan() time.Time {
	d, until := c.server.o.HeaderTimeout, c.deadline.Load()
	if d <= 0 || until == never {
		return time.Time{}
	}
	return c.server.time(until - int64(d))
}
