package origin

import (
	"errors"
	"fmt"
	"time"
)

// MaxInterim is how many interim responses (1xx) may come before the final one;
// their heads together may be as long as one, Options.MaxHeaderBytes. A response
// with more is Malformed.
const MaxInterim = 16

// exchange is one request and the head of its response on one connection.
type exchange struct {
	origin *Origin
	c      *conn
	r      *Request
	upload *upload
	wait   *headWait // nil without an upload

	begun     time.Time // to send
	firstByte time.Time // of the final head
	whole     time.Time // when the final head was
	silent    bool      // not a byte came
	keep      bool      // by all heads, and the request was sent whole
	unsent    bool      // a part of the request's body was not sent

	interims, interimBytes int // what came of interim responses
}

// run sends the request and reads the head of the final response. The deadline
// for both is the caller's to clear.
func (x *exchange) run() (head, framing, *Error) {
	x.begun = time.Now()
	x.keep, x.silent = true, true
	sendErr := x.send()
	h, f, err := x.receive()
	if x.upload != nil {
		sendErr = x.upload.stop()
		x.unsent = sendErr != nil
	}
	x.keep = x.keep && sendErr == nil
	if broken, ok := errors.AsType[*bodyError](sendErr); ok {
		kind := BadRequest
		if faulty(broken) {
			kind = Fault
		}
		return head{}, framing{}, x.origin.fail(kind, "send the request", broken)
	}
	if err == nil {
		return h, f, nil
	}
	kind := kindOf(err)
	if sendErr != nil && !errors.Is(sendErr, errStopped) {
		err = fmt.Errorf("%w (sending the request had failed: %w)", err, sendErr)
	}
	return head{}, framing{}, x.origin.fail(kind, "read the response head", err)
}

// send sends a request without a body, or starts to send one with a body. An
// error is no reason not to read: the origin may have answered before it closed.
func (x *exchange) send() error {
	limit := x.origin.options.FirstByteTimeout
	if x.r.Body != nil {
		x.wait = &headWait{c: x.c, limit: limit}
		x.upload = startUpload(x.c, x.r, x.wait, x.origin.options.Panics)
		return nil
	}
	if err := x.c.nc.SetDeadline(x.begun.Add(limit)); err != nil {
		return err
	}
	x.c.out = x.r.appendHead(x.c.out[:0], x.c.server.Host)
	_, err := x.c.nc.Write(x.c.out)
	return err
}

// receive reads heads up to the final one, or the switch of protocols that was asked
// for, and passes the interim ones on.
func (x *exchange) receive() (head, framing, error) {
	for {
		h, f, err := x.receiveOne()
		x.keep = x.keep && f.keep
		if err != nil || h.status >= 200 {
			return h, f, err
		}
		if h.status == switching {
			return h, f, switched(x.r.Upgrade, &h)
		}
		if err := x.interim(&h); err != nil {
			return head{}, framing{}, err
		}
	}
}

// interim keeps the limits of interim responses and gives this one to the caller.
func (x *exchange) interim(h *head) error {
	x.interims++
	x.interimBytes += len(x.c.text)
	switch {
	case x.interims > MaxInterim:
		return malformed("more than %d interim responses", MaxInterim)
	case x.interimBytes > x.origin.options.MaxHeaderBytes:
		return malformed("interim responses of more than %d bytes", x.origin.options.MaxHeaderBytes)
	}
	if x.wait != nil {
		x.wait.interim()
	}
	if x.r.Interim != nil && h.status != 100 {
		x.r.Interim(h.status, h.fields.Without(func(name string) bool { return name == "Content-Length" }))
	}
	return nil
}

func (x *exchange) receiveOne() (head, framing, error) {
	if _, err := x.c.br.Peek(1); err != nil {
		return head{}, framing{}, cutAt(err)
	}
	x.silent = false
	x.firstByte = time.Now()
	if x.wait != nil {
		x.wait.begun()
	}
	text, err := x.c.readHead(x.origin.options.MaxHeaderBytes)
	if err != nil {
		return head{}, framing{}, err
	}
	h, err := parseHead(text)
	if err != nil {
		return head{}, framing{}, err
	}
	x.whole = time.Now()
	f, err := frame(x.r.Method, &h)
	return h, f, err
}
