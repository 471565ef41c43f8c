package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/message"
)

// The phases of a connection, for Shutdown, which closes those that wait.
const (
	waiting int32 = iota // for a request
	working
	closed // Shutdown has closed it
	handed // over; see takeOver
)

// serve answers the requests of c, and closes it. It is the goroutine of c. It answers plain requests
// itself, and leaves the first that is not plain, and all that follow, to fasthttp.
func (c *conn) serve() {
	s := c.server
	defer c.freeBuffer()
	c.awaiter = newAwaiter(c)
	c.files = c.sendsFiles()
	for c.turn() {
	}
	if c.toFasthttp {
		_ = s.fast.ServeConn(c) // it calls connectionIs, also at the end
		return
	}
	_ = c.Close()
	s.setState(c, http.StateClosed)
}

// takeBuffer takes a buffer, where there is none.
func (c *conn) takeBuffer() {
	if c.buf == nil {
		c.buf = c.server.buffers.Get().(*[]byte)
	}
}

// freeBuffer gives back the buffer, if there is one.
func (c *conn) freeBuffer() {
	if b := c.buf; b != nil {
		c.buf, c.from, c.to, c.start = nil, 0, 0, 0
		c.server.buffers.Put(b)
	}
}

// newBuffers returns a pool of buffers for heads.
func newBuffers(size int) *sync.Pool {
	return &sync.Pool{New: func() any {
		b := make([]byte, size)
		return &b
	}}
}

// turn reads one request and answers it. It reports whether the loop goes on with another one.
func (c *conn) turn() (goesOn bool) {
	if c.from == c.to && !c.awaitRequest() {
		return false
	}
	t := c.server.takePlain(c)
	defer t.release()
	defer t.rescuePlain(&goesOn)
	switch found := c.head(t); found {
	case isPlain, isShort:
		return t.answerPlain(found) && c.keepAlive()
	case isOther:
	}
	c.toFasthttp, c.activeReported = true, true
	c.start, c.came = c.from, int64(c.to-c.from)
	return false
}

// awaitRequest waits for the first bytes of a request.
func (c *conn) awaitRequest() bool {
	if !c.readFirst() || !c.phase.CompareAndSwap(waiting, working) {
		return false
	}
	if !c.hasRequest.Load() {
		c.hasRequest.Store(true)
	}
	c.server.setState(c, http.StateActive)
	return true
}

// readFirst waits for the first bytes of a request and reads them. A socket has no buffer while it
// waits; another connection, as one of TLS, has none until its first request.
func (c *conn) readFirst() bool {
	c.from, c.to = 0, 0
	switch {
	case c.awaiter != nil: // if nothing comes, it gives back a buffer that c still has
		for {
			if c.to, c.failed = c.awaiter.await(); !c.retryRead(c.failed) {
				break
			}
		}
	case c.buf != nil:
		return c.fill()
	default:
		var first [1]byte
		if c.to, c.failed = c.readBelow(first[:]); c.to > 0 {
			c.takeBuffer()
			(*c.buf)[0] = first[0]
		}
	}
	return c.to > 0
}

// keepAlive is called after an answer. It reports whether c may have another request.
func (c *conn) keepAlive() bool {
	if c.writeSet {
		c.writeSet = false
		_ = c.Conn.SetWriteDeadline(time.Time{})
	}
	if c.from < c.to { // the next request, or a part of it, has come already
		return true
	}
	c.setTimeout(c.server.idle())
	c.phase.Store(waiting)
	c.server.setState(c, http.StateIdle)
	return !c.server.stopping.Load()
}

// fill reads more into the buffer. It reports whether something has come.
func (c *conn) fill() bool {
	n, err := c.readBelow((*c.buf)[c.to:])
	c.to += n
	c.failed = err
	return n > 0
}

// head reads a head into t and takes it from the buffer. It returns isShort if the time for the head is
// over.
func (c *conn) head(t *turn) look {
	timed, line := false, -1
	c.headTimeUnset = true
	for seen := 0; ; {
		b := (*c.buf)[c.from:c.to]
		// A head that comes in many pieces is read again when its line, or its end, has come.
		if seen == 0 || line < 0 || bytes.Contains(b[max(seen-3, 0):], []byte("\r\n\r\n")) {
			n, found := t.readPlain(b)
			if found == isPlain {
				c.from += n
				return isPlain
			}
			t.forget()
			if found == isOther {
				return isOther
			}
			line = bytes.IndexByte(b, '\n')
		}
		seen = len(b)
		if !timed {
			timed, c.headTimeUnset = true, false
			c.setTimeout(c.server.o.HeaderTimeout)
		}
		if c.from > 0 {
			c.to = copy(*c.buf, b)
			c.from = 0
		}
		if c.to == len(*c.buf) {
			return isOther // too large
		}
		if !c.fill() {
			if errors.Is(c.failed, os.ErrDeadlineExceeded) {
				return isShort
			}
			return isOther
		}
	}
}

// takePlain takes a turn for a request of c that is answered by us.
func (s *Server) takePlain(c *conn) *turn {
	t := s.turns.Get().(*turn)
	t.conn = c
	return t
}

// headTimeout is the fault of a request whose head has not come within HeaderTimeout.
var headTimeout = &message.Fault{Status: fasthttp.StatusRequestTimeout, TimedOut: true}

// plainHTTP is the fault of a request without TLS on a port for TLS.
var plainHTTP = &message.Fault{Status: fasthttp.StatusBadRequest, WithoutTLS: true}

// refusePlain sets the fault of a request that came without TLS on a port for TLS. It replaces any other fault, except that
// the request did not come in time.
func (t *turn) refusePlain() {
	if f := t.request.Fault; t.conn.withoutTLS && (f == nil || !f.TimedOut) {
		t.request.Fault = plainHTTP
	}
}

// answerPlain answers the request, or refuses one that is short, and reports whether the
// connection may go on.
func (t *turn) answerPlain(found look) (goesOn bool) {
	r, c := &t.request, t.conn
	r.Received, r.Conn, r.Deadlines, r.SendsFiles = now(), c.Conn, c, c.files
	if found == isShort {
		r.Target, r.Fault = []byte("/"), headTimeout
		r.Seen = seenOf((*c.buf)[c.from:c.to], false)
		r.Seen.Began = c.headBegan()
	}
	t.refusePlain()
	if t.upload.hasContent() {
		return t.answerUpload()
	}
	return t.answerNow(found == isShort)
}

// answerNow has the engine answer the request, and sends the answer. last says that the connection ends with it. It reports whether the
// connection may go on.
func (t *turn) answerNow(last bool) (goesOn bool) {
	if more := t.server.o.Engine.Begin(&t.request, &t.answer); more != nil {
		more.Finish()
	}
	t.last = last || t.answer.Last || t.server.stopping.Load() || t.upload.longToDrain()
	err := t.sendPlain()
	t.end()
	return err == nil && !t.last
}

// answerUpload answers a request with content. The connection may go on if all of that was read.
func (t *turn) answerUpload() (goesOn bool) {
	t.beginUpload()
	if t.upload.expects && !t.goOn() {
		return false
	}
	if r := &t.request; r.Fault == nil {
		r.Fault = t.upload.await()
	}
	if !t.answerNow(false) || !t.upload.drain() {
		return false
	}
	t.upload.goBack()
	return true
}

// goOn asks the engine whether the client, which waits for it, may send its content, and tells the client: 100 to go on, or
// a refusal. It reports whether the client goes on.
func (t *turn) goOn() bool {
	if !t.server.o.Engine.Expect(&t.request, &t.answer) {
		t.last = true
		_ = t.sendPlain()
		return false
	}
	t.answer.Reset() // Begin sees the same request
	t.setWriteDeadline()
	if _, err := io.WriteString(t.conn.Conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
		return false
	}
	t.request.Received = now()
	t.conn.bodyFollows(t.request.Received)
	return true
}

// rescuePlain is deferred: it closes the answer, and says for Close whether the request was read whole. A panic in this room becomes a 500, unless
// something was sent, and the connection ends.
func (t *turn) rescuePlain(goesOn *bool) {
	v := recover()
	t.end()
	if t.request.Body != nil {
		t.conn.unread = t.unread()
	}
	if v == nil {
		return
	}
	t.server.o.Panics.Note(v)
	*goesOn = false
	if !t.sent {
		t.setWriteDeadline()
		_, _ = io.WriteString(t.conn.Conn, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n"+closeLine+"\r\n")
	}
}

// Read gives fasthttp what has come of its first request, and then what comes.
func (c *conn) Read(p []byte) (int, error) {
	if c.from < c.to {
		n := copy(p, (*c.buf)[c.from:c.to])
		c.from += n
		c.freeSeen()
		return n, nil
	}
	if c.headTimeUnset {
		c.headTimeUnset = false
		c.setTimeout(c.server.o.HeaderTimeout)
	}
	n, err := c.readBelow(p)
	c.note(p[:n])
	return n, err
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writeSet = !t.IsZero()
	return c.Conn.SetWriteDeadline(t) //nolint:wrapcheck // fasthttp looks at it
}
