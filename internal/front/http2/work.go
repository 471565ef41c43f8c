package http2

import (
	"errors"
	"io"
	"net/http"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// begin makes the engine answer s. A request that is answered at once needs no goroutine.
func (c *conn) begin(s *stream) {
	waits := false
	defer func() {
		if v := recover(); v != nil {
			c.s.o.Panics.Note(v)
			s.reset(xhttp2.ErrCodeInternal, errClosed)
			waits = false
		}
		if !waits {
			s.release()
		}
	}()
	o := &c.s.o
	switch {
	case o.Admit != nil && !o.Admit():
		s.answer.Status, s.answer.Length = http.StatusServiceUnavailable, 0
		s.answer.Lines = append(s.answer.Lines, "Retry-After: 1\r\n"...)
	case s.expects && s.request.Body != nil && s.request.Fault == nil:
		s.admitted, waits = true, true
		s.work(s.expect)
		return
	default:
		s.admitted = true
		if p := o.Engine.Begin(&s.request, &s.answer); p != nil {
			waits = true
			s.work(func() {
				p.Finish()
				s.respond(s.sendPieces)
			})
			return
		}
	}
	s.respond(func(from message.Content) {
		waits = true
		s.work(func() { s.sendPieces(from) })
	})
}

// expect answers s, whose client waits for 100 (Continue). The engine may take its time to say that.
func (s *stream) expect() {
	e := s.c.s.o.Engine
	if e.Expect(&s.request, &s.answer) {
		s.interim(http.StatusContinue, nil)
		if p := e.Begin(&s.request, &s.answer); p != nil {
			p.Finish()
		}
	}
	s.respond(s.sendPieces)
}

// work runs f in a goroutine of the stream. That goroutine owns the answer until f returns.
func (s *stream) work(f func()) {
	s.c.mu.Lock()
	s.shared = true
	s.c.mu.Unlock()
	s.c.s.work.Go(func() {
		defer s.c.signal()
		defer s.release()
		defer func() {
			if v := recover(); v != nil {
				s.c.s.o.Panics.Note(v)
				s.reset(xhttp2.ErrCodeInternal, errClosed)
			}
		}()
		f()
	})
}

// respond queues the head of the answer, and with it content that is in memory. For other content it calls
// pieces.
func (s *stream) respond(pieces func(message.Content)) {
	a := &s.answer
	if a.Status < http.StatusOK || a.TakeOver != nil {
		s.reset(xhttp2.ErrCodeInternal, errNoAnswer)
		return
	}
	if a.Silent {
		s.reset(xhttp2.ErrCodeCancel, errSilent)
		return
	}
	// Nothing else ends the connection of a client that goes on sending content that was refused.
	s.closesConn = a.Last && s.request.Fault == nil
	from := a.Content
	if string(s.request.Method) == http.MethodHead || a.Status == http.StatusNoContent || a.Status == http.StatusNotModified {
		from = nil
	}
	if from == nil {
		s.headLocking(content{}, nil, true)
		return
	}
	all := from.Bytes()
	if all == nil {
		s.headLocking(content{}, nil, false)
		pieces(from)
		return
	}
	body := newContent(all)
	if a.Length >= 0 && int64(body.left) != a.Length {
		s.reset(xhttp2.ErrCodeInternal, errLength)
		return
	}
	s.headLocking(body, from.Trailers(), true)
}

// Answers that cannot be sent.
var (
	errNoAnswer = errors.New("http2: the response cannot be sent by HTTP/2")
	errSilent   = errors.New("http2: the response is not to be sent")
	errLength   = errors.New("http2: the content does not match its Content-Length")
)

// headLocking queues the head, and content that is here. It takes the mutex.
func (s *stream) headLocking(body content, trailers field.List, last bool) {
	s.c.mu.Lock()
	if !s.done {
		s.headDue, s.content, s.trailers, s.last = true, body, trailers, last
		s.c.out.queueFrames(s)
	}
	s.c.mu.Unlock()
}

// sendPieces sends content as it comes.
func (s *stream) sendPieces(from message.Content) {
	s.c.signal() // the head goes first
	sent := int64(0)
	for {
		p, err := from.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // alone, as message.Content has it
			if a := &s.answer; a.Length >= 0 && sent != a.Length {
				s.reset(xhttp2.ErrCodeInternal, errLength)
				return
			}
			s.sendEnd(from.Trailers())
			return
		case err != nil:
			s.reset(xhttp2.ErrCodeInternal, err)
			return
		}
		if sent += int64(len(p)); s.answer.Length >= 0 && sent > s.answer.Length {
			s.reset(xhttp2.ErrCodeInternal, errLength)
			return
		}
		if !s.sendPiece(p) {
			return
		}
	}
}

// sendPiece sends p, and reports whether it was sent. It returns when p is not used any more.
func (s *stream) sendPiece(p []byte) bool {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.done {
		return false
	}
	if len(p) == 0 {
		return true
	}
	s.content = newContent([][]byte{p})
	c.out.queueContent(s)
	c.signal()
	for !s.done && (s.content.left > 0 || s.flushing) {
		s.cond.Wait()
	}
	return !s.done
}

// sendEnd ends the answer after the content that was sent.
func (s *stream) sendEnd(trailers field.List) {
	s.c.mu.Lock()
	if !s.done {
		s.last, s.trailers = true, trailers
		s.c.out.queueFrames(s)
	}
	s.c.mu.Unlock()
	s.c.signal()
}

// encode makes the block of the answer's head.
func (s *stream) encode(e *encoder) {
	a := &s.answer
	e.head(a.Status)
	if a.Length >= 0 && a.Status != http.StatusNoContent {
		e.length(a.Length)
	}
	e.stored(a.Stored)
	e.fields(a.Fields)
	e.lines(a.Lines)
}
