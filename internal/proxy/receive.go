package proxy

import (
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/reason"
	"edgeproxy/internal/wire"
)

// scheme is that of every listener there is so far.
const (
	scheme      = "http"
	defaultPort = 80
)

// receive takes the request apart: framing, target, host and what the request
// asks of a cache. What cannot be understood in one way only
// leaves x with a status to refuse it with.
func (p *Proxy) receive(ctx *fasthttp.RequestCtx, start time.Time) *exchange {
	x := p.take(ctx, start)
	x.method = ctx.Request.Header.Method()
	if status := p.gate(x); status != 0 {
		p.refuse(x, status, reason.BadRequest)
		x.closing = true // where the next request begins is anybody's guess
	}
	return x
}

// gate returns the status to refuse x with, 0 for none. It comes before anything
// else that is done for a request, also before a 100 (Continue).
func (p *Proxy) gate(x *exchange) int {
	fields, err := x.readHeader()
	switch {
	case err != nil:
		return fasthttp.StatusBadRequest
	case fields > p.HeaderCount:
		return fasthttp.StatusRequestHeaderFieldsTooLarge
	}
	if status := p.readTarget(x); status != 0 {
		return status
	}
	return p.expectation(x)
}

// take takes an exchange for ctx, whose request was received at start.
func (p *Proxy) take(ctx *fasthttp.RequestCtx, start time.Time) *exchange {
	x := p.exchanges.Get().(*exchange)
	x.ctx, x.start = ctx, start
	p.inFlight.Add(1)
	return x
}

// readTarget parses method, target and host; it returns the status to refuse
// with, 0 for none.
func (p *Proxy) readTarget(x *exchange) int {
	h := &x.ctx.Request.Header
	raw := h.RequestURI()
	switch {
	case len(raw) > p.TargetBytes:
		return fasthttp.StatusRequestURITooLong
	case h.IsTrace() || h.IsConnect():
		return fasthttp.StatusMethodNotAllowed
	case !wire.ValidMethod(x.method), !h.IsHTTP11() && string(h.Protocol()) != "HTTP/1.0":
		return fasthttp.StatusBadRequest
	}
	target, err := wire.ParseTarget(raw, scheme, h.IsOptions())
	if err != nil {
		return fasthttp.StatusBadRequest
	}
	authority := h.Host()
	if target.Authority != nil {
		// The authority replaces Host, which has to be in order all the same (RFC 9112
		// sections 3.2 and 3.2.2). A request of HTTP/1.0 may have none.
		if _, err := wire.AppendHost(x.scratch[:0], authority, scheme); err != nil && len(authority) > 0 {
			return fasthttp.StatusBadRequest
		}
		authority = target.Authority
	}
	x.target = target
	x.scratch, err = wire.AppendHost(x.scratch[:0], authority, scheme)
	if err != nil {
		return fasthttp.StatusBadRequest
	}
	x.host = x.scratch
	return 0
}

// expectation returns the status to refuse with when the request expects what
// we do not do, or announces a body that is too large; 0 for none.
func (p *Proxy) expectation(x *exchange) int {
	h := &x.ctx.Request.Header
	if x.seen.expect && h.IsHTTP11() {
		for _, e := range h.PeekAll(fasthttp.HeaderExpect) {
			if len(e) > 0 && !strings.EqualFold(string(e), "100-continue") {
				return fasthttp.StatusExpectationFailed
			}
		}
	}
	if int64(h.ContentLength()) > p.BodyBytes {
		return fasthttp.StatusRequestEntityTooLarge
	}
	return 0
}
