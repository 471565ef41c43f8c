package http2

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// Why a stream has ended before its end.
var (
	errGone   = errors.New("http2: the client closed the connection")
	errReset  = errors.New("http2: the client reset the stream")
	errClosed = errors.New("http2: the stream was reset")
	errFrames = errors.New("http2: the stream was reset: protocol error")
)

// stream is one request, its answer, and the connection of both as the engine sees it.
type stream struct {
	c       *conn
	id      uint32
	request message.Request
	answer  message.Answer
	up      upload
	scratch *scratch
	// sendInterim is interim, which would be allocated each time.
	sendInterim func(status int, fields field.List)
	taken       atomic.Int64 // bytes of content that the client has had windows for

	admitted   bool
	malformed  bool // reset behind its answer (RFC 9113 section 8.1.1)
	expects    bool // the client waits for 100 (Continue)
	closesConn bool // the connection ends with the answer

	// The connection's mutex guards what follows.
	cond       sync.Cond // wakes who waits for the client, either way
	halfClosed bool      // the client has ended its side
	done       bool      // our last frame is on its way, or the stream is over
	err        error     // why it is over; nil: it is not, or it has ended well
	hasWorker  bool      // one goroutine works on the answer; it finishes the stream if it is done
	flushing   bool      // something of it is being written
	orphan     bool      // it was ended while no goroutine worked on it: the goroutine that ended it finishes it
	finished   bool
	shared     bool // others than the reader and the writer may know of it: it serves no other request
	leavers    []*leaveCallback

	priority   priority
	ready      bool  // in the schedule
	inNoWindow bool  // in the queue of what needs no window
	window     int64 // for content
	in         receiveWindow
	interims   []interim
	headDue    bool
	content    content
	last       bool // nothing follows content but trailers
	trailers   field.List

	meter  pace.Meter // the sweeper's, as the next two
	seen   int64      // taken at the last look
	stuck  time.Duration
	sendBy deadline
	readBy deadline
}

// interim is an interim response that waits to be written.
type interim struct {
	status int
	fields field.List
}

// content is what waits for windows.
type content struct {
	pieces [][]byte // not ours
	off    int      // offset in the first piece
	left   int
}

func newContent(pieces [][]byte) content {
	c := content{pieces: pieces}
	for _, p := range pieces {
		c.left += len(p)
	}
	return c
}

// appendTo moves n bytes, which must be there, to b.
func (c *content) appendTo(b []byte, n int) []byte {
	c.left -= n
	for n > 0 {
		p := c.pieces[0][c.off:]
		if len(p) > n {
			c.off += n
			return append(b, p[:n]...)
		}
		b = append(b, p...)
		n -= len(p)
		c.pieces, c.off = c.pieces[1:], 0
	}
	return b
}

// leaveCallback is a function that is called when the client leaves.
type leaveCallback struct{ f func() }

// newStreamLocked begins a stream. The caller works on it.
func (c *conn) newStreamLocked(id uint32) *stream {
	s := c.spareLocked()
	*s = stream{
		c: c, id: id, hasWorker: true, window: c.out.initial, in: receiveWindow{window: streamWindow}, meter: pace.NewMeter(c.s.o.SendRate),
		scratch: s.scratch, sendInterim: s.sendInterim,
	}
	s.cond.L = &c.mu
	s.answer = message.Answer{Lines: s.scratch.answer[:0], Length: -1}
	c.streams[id] = s
	c.working++
	return s
}

// dropLocked takes s out of its connection. Its last frame was written, or it was reset.
func (s *stream) dropLocked() {
	s.done = true
	s.c.out.forget(s)
	s.content, s.interims = content{}, nil
	delete(s.c.streams, s.id)
	s.c.giveLocked(s.up.dropLocked())
	s.sendBy.clear()
	s.readBy.clear()
	s.cond.Broadcast()
}

// endLocked ends s early, because of err. Unless s was over, the caller then calls notifyLeave
// without the mutex.
func (s *stream) endLocked(err error) {
	s.err, s.shared = err, true
	s.dropLocked()
	s.orphan = !s.hasWorker
}

// notifyLeave calls the functions of OnLeave, and finishes s if nobody else does.
func (s *stream) notifyLeave() {
	s.c.mu.Lock()
	all := s.leavers
	s.leavers = nil
	orphan := s.orphan
	s.orphan = false
	s.c.mu.Unlock()
	for _, l := range all {
		go s.c.s.o.Panics.Quietly(l.f)
	}
	if orphan {
		s.finish()
	}
}

// reset ends s with a code, because of err.
func (s *stream) reset(code xhttp2.ErrCode, err error) {
	s.c.mu.Lock()
	if s.done {
		s.c.mu.Unlock()
		return
	}
	s.c.out.reset(s.id, code)
	s.c.recent.add(s.id, true)
	s.endLocked(err)
	s.c.mu.Unlock()
	s.c.signal()
	s.notifyLeave()
	s.c.reportState()
}

// release gives the answer to the writer, or finishes the stream if it is over.
func (s *stream) release() {
	s.c.mu.Lock()
	s.hasWorker = false
	over := s.done && !s.flushing
	s.c.mu.Unlock()
	if over {
		s.finish()
		s.c.reportState()
	}
}

// finish ends the request, if it has not ended yet. Nothing is sent after it.
func (s *stream) finish() {
	o := &s.c.s.o
	s.c.mu.Lock()
	first := !s.finished
	s.finished = true
	s.c.mu.Unlock()
	if !first {
		return
	}
	o.Panics.Quietly(s.answer.Close)
	if s.admitted && o.Done != nil {
		o.Done()
	}
	s.c.mu.Lock()
	s.c.working--
	s.c.keepLocked(s)
	s.c.mu.Unlock()
}

// interim sends an interim response, unless too many wait: none of them has to arrive.
func (s *stream) interim(status int, fields field.List) {
	s.c.mu.Lock()
	if !s.done && !s.headDue && len(s.interims) < mostInterims {
		s.interims = append(s.interims, interim{status, fields})
		s.c.out.queueFrames(s)
	}
	s.c.mu.Unlock()
	s.c.signal()
}

// The methods below make a stream a net.Conn.

// Read implements net.Conn, of the content of the request.
func (s *stream) Read(p []byte) (int, error) { return s.up.Read(p) }

// Write implements net.Conn. No stream is taken over.
func (s *stream) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Close implements net.Conn. It resets the stream, unless it has ended.
func (s *stream) Close() error {
	s.reset(xhttp2.ErrCodeInternal, errClosed)
	return nil
}

func (s *stream) LocalAddr() net.Addr  { return s.c.raw.LocalAddr() }
func (s *stream) RemoteAddr() net.Addr { return s.c.raw.RemoteAddr() }

// NetConn returns the connection that the client came in by, under TLS.
func (s *stream) NetConn() net.Conn { return s.c.raw }

// Peer is what Options.Peer told of the client's connection.
func (s *stream) Peer() (client netip.Addr, told bool) { return s.c.peer, s.c.told }

// Taken returns how many bytes of the content were sent, which the client has opened its
// windows for.
func (s *stream) Taken() int64 { return s.taken.Load() }

// OnLeave calls f, in a goroutine of its own, once the client has reset the stream or its
// connection has ended, at once if it has. Until then stop keeps it from that.
func (s *stream) OnLeave(f func()) (stop func() bool) {
	l := &leaveCallback{f}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		go s.c.s.o.Panics.Quietly(f)
		return func() bool { return false }
	}
	s.leavers, s.shared = append(s.leavers, l), true
	return func() bool { return s.forgetLeaver(l) }
}

func (s *stream) forgetLeaver(l *leaveCallback) bool {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	for i, have := range s.leavers {
		if have == l {
			s.leavers[i] = s.leavers[len(s.leavers)-1]
			s.leavers = s.leavers[:len(s.leavers)-1]
			return true
		}
	}
	return false
}

// SetDeadline implements net.Conn.
func (s *stream) SetDeadline(t time.Time) error {
	_ = s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn, for the content of the request.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if !s.done {
		s.shared = true
		s.readBy.set(t, &s.c.mu, s.cond.Broadcast)
	}
	return nil
}

// SetWriteDeadline implements net.Conn, for the answer: the stream is reset if something waits
// for the client then.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if !s.done {
		s.shared = true
		s.sendBy.set(t, &s.c.mu, func() {
			if s.content.left > 0 || s.flushing {
				go s.reset(xhttp2.ErrCodeInternal, errClosed)
			}
		})
	}
	return nil
}
