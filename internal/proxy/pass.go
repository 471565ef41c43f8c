package proxy

import (
	"context"
	"errors"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
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
	resp, held, err := p.fetchOrKeep(f.Context(), j, f.Purged)
	if held != nil {
		f.Finish(errUnshared)
		_ = r.Close()
		x.take(held)
		return
	}
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

// invalidate forgets what is stored for a URL whose state the request may have
// changed, and for those that the response names (RFC 9111 section 4.4).
func (p *Proxy) invalidate(x *exchange, resp *origin.Response) {
	if !rfc9111.Invalidates(string(x.method), resp.Status) {
		return
	}
	x.keyURL(p.Hasher)
	p.forget(x.url, x.name)
	uri := rfc9111.URI{Scheme: scheme, Host: string(x.host), Target: string(x.target.Raw)}
	for _, raw := range rfc9111.InvalidationTargets(resp.Header, uri) {
		if target, err := wire.ParseTarget([]byte(raw), scheme, false); err == nil {
			name := wire.AppendKey(nil, scheme, x.host, target.Raw)
			p.forget(p.Hasher.Sum(name), name)
		}
	}
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

// failureReason is the word for what went wrong with an origin.
func failureReason(err error) reason.Reason {
	if oe, ok := errors.AsType[*origin.Error](err); ok {
		_, why := failure(oe, nil)
		return why
	}
	return reason.OriginError
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
