package origin

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// attempt is one request and the head of its response on one connection.
type attempt struct {
	origin *Origin
	c      *conn
	r      *Request
	upload *upload
	wait   *headWait // nil without an upload

	connect   time.Duration // how long connecting took; 0: the connection existed before
	begun     time.Time     // when sending began
	firstByte time.Time     // when the first byte of the final head came
	headTime  time.Time     // when the final head was complete
	noBytes   bool          // not a byte came
	keep      bool          // the connection may be used again: all heads say so, and the request was sent whole
	unsent    bool          // a part of the request's body was not sent
	sendErr   error         // error of sending a request that has no body, or whose body is in memory (Request.Whole)
	outIsHead bool          // c.out has what outgoing returns

	head    head    // the one that came last: after run, the final one
	made    *answer // nil: none yet
	framing framing

	interims interimCount

	// Set by a Call, which has sent the request and looked at what has come.
	release func() bool // stops the wait for the end of the context; nil: it has not begun
	fault   error       // the panic that has ended it
	waitErr error       // why nothing has come
	peeked  time.Time   // when the first byte of the head was seen
	headEnd int         // length of the whole head in the buffer; 0: not known
}

// run sends the request and reads the head of the final response. The deadline
// for both is the caller's to clear.
//
// Heads go by x and not through returned values: with them in each of its frames the
// goroutine of a fetch outgrows its first stack, and copying that (runtime.copystack in a
// profile) was 6 % of a miss.
func (x *attempt) run() *Error {
	switch {
	case x.fault != nil:
		return x.origin.fail(Fault, "send the request", x.fault)
	case x.begun.IsZero():
		x.begin()
	}
	sendErr, err := x.sendErr, x.receive()
	if x.upload != nil {
		sendErr = x.upload.stop()
	}
	x.unsent = sendErr != nil && x.r.Body != nil
	x.keep = x.keep && sendErr == nil
	if err == nil && sendErr == nil {
		return nil
	}
	return x.failed(sendErr, err)
}

// start notes that the attempt begins now.
func (x *attempt) start(now time.Time) {
	x.begun = now
	x.keep, x.noBytes = !x.last(), true
}

// last reports whether the connection carries no other request after this one.
func (x *attempt) last() bool {
	return x.origin.options.KeepAlive < 0 || x.r.mayGoUnread(x.origin.options.ReuseAfterPost)
}

// begin sends the request, or starts to send it.
func (x *attempt) begin() {
	x.start(time.Now())
	x.sendErr = x.send()
}

// turn sends the request in one turn, which waits for bytes or the end of the connection, and reads them. It
// reports false if nothing was sent.
func (x *attempt) turn() (begun bool) {
	begun, x.sendErr = x.c.takeTurn(x.outgoing())
	return begun
}

// failed returns the failure for sendErr of sending and err of receiving; nil if there is a response in
// spite of sendErr.
func (x *attempt) failed(sendErr, err error) *Error {
	if broken, ok := errors.AsType[*bodyError](sendErr); ok {
		kind := BadRequest
		if faulty(broken) {
			kind = Fault
		}
		return x.origin.fail(kind, "send the request", broken)
	}
	if err == nil {
		return nil
	}
	kind := kindOf(err)
	if sendErr != nil && !errors.Is(sendErr, errStopped) {
		err = fmt.Errorf("%w (before that, sending the request failed: %w)", err, sendErr)
	}
	return x.origin.fail(kind, "read the response head", err)
}

// headLimit returns how long the origin may take for a complete head.
func (x *attempt) headLimit() time.Duration {
	return cmp.Or(x.r.FirstByte, x.origin.options.FirstByteTimeout)
}

// send sends a request that has no body, or whose body is in memory. It starts an upload for any other. After
// an error the response is read all the same: the origin may have answered before it closed.
func (x *attempt) send() error {
	limit := x.headLimit()
	x.c.turnDeadline = time.Time{}
	if x.r.Body != nil && x.r.Whole == nil {
		x.wait = &headWait{c: x.c, limit: limit}
		x.upload = startUpload(x)
		return nil
	}
	if err := x.c.nc.SetDeadline(x.begun.Add(limit)); err != nil {
		return err
	}
	_, err := x.c.nc.Write(x.outgoing())
	return err
}

// outgoing returns the bytes of the head as they are sent, followed by a body that is in memory.
func (x *attempt) outgoing() []byte {
	if !x.outIsHead {
		x.c.out, x.outIsHead = x.r.appendHead(x.c.out[:0], x.c.server.Host, x.last()), true
		x.c.out = append(x.c.out, x.r.Whole...)
	}
	return x.c.out
}

// receive reads heads up to the final one, or the switch of protocols that was asked
// for, and passes the interim ones on.
func (x *attempt) receive() error {
	for {
		err := x.receiveOne()
		x.keep = x.keep && err == nil && x.framing.keep
		switch {
		case err != nil || x.head.status >= 200:
			return err
		case x.head.status == statusSwitching:
			return checkSwitch(x.r.Upgrade, &x.head)
		}
		if err := x.interim(&x.head); err != nil {
			return err
		}
	}
}

// interim counts an interim response, and gives it to the caller within the limits.
func (x *attempt) interim(h *head) error {
	passOn, err := x.interims.add(h.status, x.c.headBytes, x.origin.options.MaxHeaderBytes)
	if err != nil {
		return err
	}
	x.firstByte = time.Time{} // the final head is still to come
	if x.wait != nil {
		x.wait.interim()
	}
	if passOn && x.r.Interim != nil {
		x.r.Interim(h.status, h.fields.Without(func(name string) bool { return name == "Content-Length" }))
	}
	return nil
}

// receiveOne reads one head.
func (x *attempt) receiveOne() error {
	if err := x.waitErr; err != nil {
		x.waitErr = nil
		return cutAt(err)
	}
	if _, err := x.c.br.Peek(1); err != nil {
		return cutAt(err)
	}
	x.noBytes = false
	if x.firstByte, x.peeked = x.peeked, (time.Time{}); x.firstByte.IsZero() {
		x.firstByte = time.Now()
	}
	if x.wait != nil {
		x.wait.begun()
	}
	text, err := x.readHead(x.origin.options.MaxHeaderBytes)
	if err != nil {
		return err
	}
	if x.head, err = parseHead(text, x.answer().fieldBuf); err != nil {
		return err
	}
	x.framing, err = frame(x.r.Method, &x.head)
	return err
}

// readHead reads a head from the connection, and notes when it was complete. A head that a Call has found in
// the buffer it only takes.
func (x *attempt) readHead(limit int) (string, error) {
	if end := x.headEnd; end > 0 {
		x.headEnd = 0
		return x.c.takeHead(end, limit)
	}
	text, err := x.c.readHead(limit)
	x.headTime = time.Now()
	return text, err
}
