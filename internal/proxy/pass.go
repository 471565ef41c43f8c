package proxy

import (
	"context"
	"errors"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
)

// pass answers a request that is not the cache's business.
func (p *Proxy) pass(x *exchange) {
	x.result = resultPass
	j := p.newJob(x, false)
	resp, err := x.route.Origin.RoundTrip(context.Background(), j.request)
	if err != nil {
		p.fail(x, err)
		return
	}
	p.invalidate(x, resp)
	h := p.forwardHead(j, resp)
	h.why = x.reason
	x.response, x.head = resp, h
}

// alone fetches for x and nobody else. With admit the response is stored if it
// may be, and Range and conditions are evaluated on the result.
func (p *Proxy) alone(x *exchange, admit bool) {
	if !admit {
		j := p.newJob(x, false)
		resp, err := x.route.Origin.RoundTrip(context.Background(), j.request)
		if err != nil {
			p.fail(x, err)
			return
		}
		x.response, x.head = resp, p.judge(j, resp)
		p.mark(j, x.head, resp)
		return
	}
	j := p.newJob(x, true)
	r := p.flights.Lead(x.key, x.url, true) // before the fetch, so that a purge finds it
	f := r.Flight()
	resp, err := x.route.Origin.RoundTrip(f.Context(), j.request)
	if err != nil {
		f.Finish(err)
		_ = r.Close()
		p.fail(x, err)
		return
	}
	h := p.judge(j, resp)
	p.mark(j, h, resp)
	if h.storable() {
		f.Publish(h, true, false)
		if !p.flights.Go(r, func(f *fill) { p.carry(f, j, h, resp) }, p.fetchPanicked) {
			_ = resp.Body.Close() // shutting down
			p.account(j.route, h, j.url, reason.Incomplete, 0)
		}
		x.reader, x.head = r, h
		return
	}
	f.Finish(errUnshared)
	_ = r.Close()
	x.response, x.head = resp, h
}

// invalidate forgets what is stored for a URL whose state an unsafe request has
// changed (RFC 9111 section 4.4).
func (p *Proxy) invalidate(x *exchange, resp *origin.Response) {
	h := &x.ctx.Request.Header
	if h.IsGet() || h.IsHead() || h.IsOptions() || resp.Status < 200 || resp.Status >= 400 {
		return
	}
	x.keyURL(p.Hasher)
	p.forget(x.url, x.name)
}

// fail answers with our own error for an origin's failure.
func (p *Proxy) fail(x *exchange, err error) {
	status, why := fasthttp.StatusBadGateway, reason.OriginError
	if oe, ok := errors.AsType[*origin.Error](err); ok {
		status, why = failure(oe, x.upload)
	}
	if isPanic(err) {
		status, why = fasthttp.StatusInternalServerError, reason.Panic
	}
	p.refuse(x, status, why)
	if p.Log.Enabled(context.Background(), levelFor(why)) {
		p.Log.Log(context.Background(), levelFor(why), "request failed", "route", x.route.Name, "status", status, "reason", why.String(), "error", err)
	}
}

// failure names status and reason for what went wrong with an origin, or with
// the client's own body.
func failure(e *origin.Error, u *upload) (int, reason.Reason) {
	if e.Kind == origin.BadRequest && u != nil {
		switch {
		case errors.Is(e, errBodyTooLarge):
			return fasthttp.StatusRequestEntityTooLarge, reason.TooLarge
		case errors.Is(e, errBodyIdle):
			return fasthttp.StatusRequestTimeout, reason.ClientTimeout
		}
	}
	switch {
	case e.Kind == origin.Overload:
		return fasthttp.StatusServiceUnavailable, reason.Overload
	case e.Kind == origin.BadRequest:
		return fasthttp.StatusBadRequest, reason.BadRequest
	case e.Timeout():
		return fasthttp.StatusGatewayTimeout, reason.OriginTimeout
	}
	return fasthttp.StatusBadGateway, reason.OriginError
}
