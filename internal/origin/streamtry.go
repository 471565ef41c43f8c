package origin

import (
	"context"
	"errors"
	"time"

	"golang.org/x/net/http2"
)

// tryStream makes one try by HTTP/2.
func (o *Origin) tryStream(ctx context.Context, on *server, r *Request) (t tried) {
	var s *stream
	defer func() {
		if v := recover(); v != nil {
			t = tried{failure: o.fail(Fault, "send the request", o.options.Panics.Caught(v))}
			if s != nil {
				r.Trace.unanswered(s.begun, time.Time{})
				o.options.Panics.Quietly(s.giveUp)
			}
		}
	}()
	r.Trace.tried(on)
	from := time.Now()
	c, waited, failure := on.h2.get(ctx, r.Connect)
	if waited {
		r.Trace.connected(from)
	}
	if failure != nil {
		return o.connectFailed(failure, on, r, from)
	}
	connect := time.Duration(0)
	if waited {
		connect = time.Since(from)
	}
	s = newStream(o, c, r)
	h, err := s.run(ctx)
	if err == nil {
		var f framing
		if f, err = frame(r.Method, &h); err == nil {
			return tried{stream: s, head: h, framing: f, connect: connect, told: s.heard.Load()}
		}
	}
	t = s.failed(err, from)
	s.abandon()
	return t
}

// giveUp ends a stream whose state is unknown after a panic, and retires its connection.
func (s *stream) giveUp() {
	s.cancel(ErrBodyClosed)
	s.c.server.h2.drop(s.c)
	s.c.done()
	if s.upload != nil {
		_ = s.upload.stop(true)
	}
}

// failed returns the result of a try that began at from and failed with err.
func (s *stream) failed(err error, from time.Time) tried {
	failure := s.failure(err)
	failure.Server = s.c.server.Address
	s.r.Trace.unanswered(s.begun, time.Time{}) // the library gives a head whole
	t := tried{failure: failure, told: s.heard.Load(), silent: s.res == nil && !s.heard.Load(), unsent: !s.sent.whole, startedLate: s.r.startedLate(failure, from)}
	if failure.Kind == Cut && s.res == nil && !s.heard.Load() {
		_, alone := errors.AsType[http2.StreamError](err) // or the server has given the connection up
		t.refused = !s.sent.begun && s.notProcessed(err)
		t.stale = !alone && (s.reused || t.refused)
		t.retryable = t.stale || t.refused
	}
	if stepTimedOut(failure) {
		s.c.server.h2.drop(s.c)
	}
	if t.serverFailed() {
		s.origin.reportBadConn(s.c.server, s.c.socket)
	}
	return t
}

// stepTimedOut reports whether one step of a request had no answer in its time, so that the connection may be unusable for
// others. The end of Request.Total does not count: it may have other causes.
func stepTimedOut(failure *Error) bool {
	return failure.Kind == Timeout && !errors.Is(failure, ErrTotal)
}

// failure returns the Error for err.
func (s *stream) failure(err error) *Error {
	if _, ok := errors.AsType[*endedError](err); ok {
		kind := Canceled
		if errors.Is(err, ErrTotal) {
			kind = Timeout
		}
		return s.origin.fail(kind, "wait for the response", err)
	}
	if kind, ok := localFault(err); ok {
		return s.origin.fail(kind, "send the request", err)
	}
	const reading = "read the response head"
	if s.res != nil { // and its head is of no use
		return s.origin.fail(kindOf(err), reading, err)
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return s.origin.fail(kindOf(cause), reading, cause)
	}
	err = classifyStreamError(err)
	return s.origin.fail(kindOf(err), reading, err)
}
