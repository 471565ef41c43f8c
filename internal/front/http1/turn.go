package http1

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// turn is one request and its answer. It is taken from a pool and belongs to the goroutine that
// serves the connection. Its request and its answer share the bytes of ctx, or those of the
// connection's buffer.
type turn struct {
	server  *Server
	ctx     *fasthttp.RequestCtx // nil: the request is plain
	conn    *conn
	request message.Request
	answer  message.Answer
	upload  upload  // the content of a plain request
	body    body    // the content of any other request
	stream  *stream // what fasthttp sends; nil: nothing, or bytes
	ended   bool    // the answer was closed
	sent    bool    // the answer to a plain request was sent, or a part of it
	last    bool    // the connection ends after the answer

	tell func(status int, fields field.List) // t.interim, made once
	mute bool                                // the client did not take an interim response

	// Buffers that are kept for further requests, as the lines of request and answer are.

	block   []byte // the head in the making
	source  bytes.Reader
	parser  *bufio.Reader
	content net.Buffers // follows block, in an answer that is in memory
	vector  net.Buffers // what is written by writev
	room    [2][]byte   // the memory of vector, in most answers
}

// parserBytes holds the head of nearly every response; a longer one gets a
// parser of its own.
const parserBytes = 4 << 10

// mostLinesKept bounds the field lines, and mostBlockKept the bytes of block, for which a turn keeps
// memory.
const (
	mostLinesKept = 256
	mostBlockKept = 64 << 10
)

func newTurn(s *Server) *turn {
	t := &turn{server: s, block: make([]byte, 0, 1024)}
	t.parser = bufio.NewReaderSize(&t.source, parserBytes)
	t.tell = t.interim
	t.answer.Reset()
	return t
}

// turnKey finds a turn among the user values of its request.
type turnKey struct{}

// take takes a turn for ctx, whose request was received at this time.
func (s *Server) take(ctx *fasthttp.RequestCtx, at time.Time) *turn {
	t := s.turns.Get().(*turn)
	t.ctx, t.conn = ctx, ctx.Conn().(*conn)
	t.conn.headTimeUnset = false
	r := &t.request
	r.Received, r.Conn, r.Deadlines = at, t.conn.Conn, ctx
	return t
}

// closeLater makes fasthttp close the turn when its answer was sent, or has failed: fasthttp closes the
// user values of a request then.
func (t *turn) closeLater() { t.ctx.SetUserValue(turnKey{}, t) }

// Close ends the turn.
func (t *turn) Close() error {
	t.conn.unread = t.unread() && !t.answer.Silent
	t.end()
	t.release()
	return nil
}

// end closes the answer, once.
func (t *turn) end() {
	if t.ended {
		return
	}
	t.ended = true
	if t.stream != nil {
		t.stream.turn = nil
	}
	t.server.o.Panics.Quietly(t.answer.Close)
}

// release gives t back to the pool.
func (t *turn) release() {
	lines := t.request.Lines[:0]
	if cap(lines) > mostLinesKept {
		lines = nil
	}
	if cap(t.block) > mostBlockKept {
		t.block = nil
	}
	t.conn.pending = nil
	t.request = message.Request{Lines: lines}
	t.answer.Reset()
	if t.upload.named {
		t.upload = upload{}
	}
	t.ctx, t.conn, t.body, t.stream, t.content, t.vector = nil, nil, body{}, nil, nil, nil
	t.ended, t.mute, t.sent, t.last = false, false, false, false
	t.source.Reset(nil)
	t.server.turns.Put(t)
}

// handle answers a request that is not plain, or comes behind one. It is fasthttp's Handler.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	t := s.take(ctx, ctx.Time()) // fasthttp read the clock when the head was complete
	t.closeLater()
	defer t.rescue(nil)
	t.read()
	t.refusePlain()
	if more := s.o.Engine.Begin(&t.request, &t.answer); more != nil {
		more.Finish()
	}
	t.send()
}

// expect answers Expect: 100-continue before the body is sent: 100 to go on, or the status of the
// refusal, whose answer is then complete. It is fasthttp's ExpectHandler.
func (s *Server) expect(ctx *fasthttp.RequestCtx) (status int) {
	t := s.take(ctx, now())
	t.closeLater()
	defer t.rescue(&status)
	t.read()
	t.refusePlain()
	if s.o.Engine.Expect(&t.request, &t.answer) {
		ctx.RemoveUserValue(turnKey{})
		t.conn.resumed = true
		t.release() // the handler sees the same request again
		return fasthttp.StatusContinue
	}
	t.send()
	return t.answer.Status
}

// malformed answers a request that fasthttp could not read. It is fasthttp's ErrorHandler.
func (s *Server) malformed(ctx *fasthttp.RequestCtx, err error) {
	t := s.take(ctx, now())
	t.closeLater()
	defer t.rescue(nil)
	if idle := s.o.WriteIdleTimeout; idle > 0 {
		_ = ctx.SetWriteDeadline(now().Add(idle)) // fasthttp leaves that of the answer before, which may have passed
	}
	h := &ctx.Request.Header // the head, or the part of it that was read
	r := &t.request
	r.Target, r.Host, r.Fault = h.RequestURI(), h.Host(), faultOf(err)
	if t.conn.resumed { // the head was read, and the body failed
		r.Seen = seenIn(h)
	} else {
		r.Seen = seenOf(t.conn.seen(), r.Fault.Status == fasthttp.StatusRequestHeaderFieldsTooLarge)
		if r.Fault.TimedOut {
			r.Seen.Began = t.conn.headBegan()
		}
	}
	t.refusePlain()
	if more := s.o.Engine.Begin(&t.request, &t.answer); more != nil {
		more.Finish()
	}
	t.send()
}

// faultOf says what is wrong with a request that fasthttp could not read.
func faultOf(err error) *message.Fault {
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		return &message.Fault{Status: fasthttp.StatusRequestHeaderFieldsTooLarge}
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return &message.Fault{Status: fasthttp.StatusRequestEntityTooLarge}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &message.Fault{Status: fasthttp.StatusRequestTimeout, TimedOut: true}
	}
	return &message.Fault{Status: fasthttp.StatusBadRequest}
}

// rescue is deferred: a panic in this room becomes a 500, with which the connection ends. The
// engine recovers its own.
func (t *turn) rescue(status *int) {
	v := recover()
	if v == nil {
		return
	}
	t.server.o.Panics.Note(v)
	t.end()
	t.conn.pending = nil
	resp := &t.ctx.Response
	resp.Reset()
	resp.Header.SetNoDefaultContentType(true)
	resp.SetStatusCode(fasthttp.StatusInternalServerError)
	resp.SetConnectionClose()
	if status != nil {
		*status = fasthttp.StatusInternalServerError
	}
}
