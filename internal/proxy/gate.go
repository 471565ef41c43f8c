package proxy

import (
	"errors"
	"net"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/reason"
)

// Expect answers Expect: 100-continue before the body is sent: 100 to go on, or
// the status of the refusal, whose answer is then complete. It is the server's
// ExpectHandler.
func (l *Listener) Expect(ctx *fasthttp.RequestCtx) (status int) {
	p := l.proxy
	x := p.take(ctx, now(), l.scheme)
	defer func() {
		if v := recover(); v != nil {
			x.unseen = false
			p.rescue(x, v)
			status = x.status
		}
		p.record(x)
	}()
	l.receive(x)
	if x.status == 0 && !p.findRoute(x) {
		p.refuse(x, statusNotFound, reason.NoRoute)
	}
	if x.status == 0 {
		x.unseen = true // the handler sees the same request again
		return statusContinue
	}
	p.deliver(x)
	return x.status
}

// Malformed answers a request that fasthttp could not read. It is the server's
// ErrorHandler.
func (l *Listener) Malformed(ctx *fasthttp.RequestCtx, err error) {
	p := l.proxy
	x := p.take(ctx, now(), l.scheme)
	defer p.finish(x)
	p.askPeer(x)
	status, why := statusBadRequest, reason.BadRequest
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	switch {
	case errors.As(err, &small):
		status = statusRequestHeaderFieldsTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		status = statusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		status, why = statusRequestTimeout, reason.ClientTimeout
	}
	p.refuse(x, status, why)
	p.deliver(x)
}
