package origin

import (
	"io"
	"time"
)

// Trace notes when what became of a Request, for those who want to know: Request.Trace. It is for one
// RoundTrip, or one Call. A nil Trace notes nothing.
//
// The goroutine of the request writes it. Owner may read all of it once it is told of the end, others
// never.
type Trace struct {
	// Owner is called once, at the end: of a failure, before RoundTrip or Finish returns it; of a switch of protocols,
	// when that is answered; else when Body has ended. The call may come from another goroutine than the request's,
	// which waits for it. It must not panic.
	Owner interface{ Ended(t *Trace) }

	Method, Target, Host string // parts of the request that was sent
	Server               string // address of the server that was tried last; "" if none was
	Secure               bool   // sent by TLS
	HTTP2                bool   // sent by HTTP/2
	Tries                int    // connections that it was tried on
	Status               int    // 0: there is no response
	// Begun is when the request came here. The zero Time is never, here and below.
	Begun time.Time
	// QueueBegun and QueueEnd are those of the wait in the queue; zero where a connection was free. A wait for another
	// server, after one that could not be connected to, is here only if it is where the request failed.
	QueueBegun, QueueEnd time.Time
	// ConnectBegun and Connected are those of the last try; zero where the connection was there.
	ConnectBegun, Connected time.Time
	// Sent is when sending began, FirstByte when the first byte of the response came. They are those of the last try, also
	// of one that has failed: what has begun and not ended is what the failure came in.
	Sent, FirstByte time.Time
	// End is when the last byte of the response came, or it was known that none will.
	End time.Time
	// Err is why not all of the response came; nil: it did.
	Err error
}

// begin notes that r has come.
func (t *Trace) begin(r *Request) {
	if t != nil {
		t.Method, t.Target, t.Host, t.Begun = r.Method, r.Target, r.Host, time.Now()
	}
}

// queued notes the end of a wait in the queue, which began at from.
func (t *Trace) queued(from time.Time) {
	if t != nil {
		t.QueueBegun, t.QueueEnd = from, time.Now()
	}
}

// tried notes a try on a server.
func (t *Trace) tried(s *server) {
	if t != nil {
		t.Tries++
		t.Server, t.Secure, t.HTTP2 = s.Address, s.TLS != nil, s.h2 != nil
		t.ConnectBegun, t.Connected = time.Time{}, time.Time{}
		t.Sent, t.FirstByte = time.Time{}, time.Time{}
	}
}

// connected notes the end of connecting, which began at from.
func (t *Trace) connected(from time.Time) {
	if t != nil {
		t.ConnectBegun, t.Connected = from, time.Now()
	}
}

// answered notes the head of a response of s, and returns t for the body.
func (t *Trace) answered(s *server, status int, sent, firstByte time.Time) *Trace {
	if t != nil {
		t.Status, t.Sent, t.FirstByte = status, sent, firstByte
		if s.Host != "" {
			t.Host = s.Host
		}
	}
	return t
}

// unanswered notes how far a try came that has brought no response. firstByte is that of the final head; zero: none came.
func (t *Trace) unanswered(sent, firstByte time.Time) {
	if t != nil {
		t.Sent, t.FirstByte = sent, firstByte
	}
}

// ended tells the owner that the response is over. io.EOF is its end, nil the switch of protocols.
func (t *Trace) ended(err error) {
	if t == nil {
		return
	}
	t.End = time.Now()
	if err != io.EOF { //nolint:errorlint // a failure that wraps io.EOF is no end
		t.Err = err
	}
	t.Owner.Ended(t)
}

// failed tells the owner of a failure.
func (t *Trace) failed(err *Error) {
	if t != nil {
		t.ended(err)
	}
}
