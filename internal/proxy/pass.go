package proxy

import (
	"bytes"
	"errors"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
)

// pass answers a request that is not the cache's business.
func (p *Proxy) pass(x *exchange) {
	x.result = resultPass
	if protocols := x.protocols(); protocols != "" {
		p.upgrade(x, protocols)
		return
	}
	post := x.maySavePost()
	if post { // its answer may serve later GETs
		x.keyURL(p.Hasher)
		p.keyByLastVary(x, p.Store.Vary(x.baseKey, x.name))
		p.countBy(x)
	}
	f := p.newFill(x, false)
	if !p.readAhead(x) {
		return
	}
	f.request.Whole = x.upload.here()
	f.request.Interim, f.request.TakesTrailers = p.interimSender(x), x.asksTrailers()
	keeps := func() bool { return false }
	if post && p.Gate.Knows(x.route.Rule, x.countedKey.Hi, x.countedKey.Lo) {
		w := p.flights.Lead(x.key, x.urlKey, false, x.who) // sees what others invalidate meanwhile
		keeps = func() bool { return !w.Flight().Purged() }
		defer func() { w.Flight().Finish(errUnshared); _ = w.Close() }()
	}
	resp, err := f.askForOneClient(x.presence)
	if err == nil {
		resp, err = f.askedFor(resp)
	}
	if err != nil {
		p.fail(x, err)
		return
	}
	x.originResponse = resp
	keep := keeps() // before our own invalidation
	p.invalidateBeside(x, f, resp)
	if keep && p.storePostAnswer(x, f, resp) {
		return
	}
	f.answer(x, resp)
}

// maySavePost reports whether x is a POST whose answer may serve later GETs, which have the same route.
func (x *routed) maySavePost() bool {
	return x.route.StorePostAnswers && x.route.Enabled && string(x.method) == "POST" && x.routeAt(x.path, []byte("GET")) == x.route
}

// invalidateBeside is invalidate, whose marks do not reach the answer itself, unless somebody else has purged meanwhile.
func (p *Proxy) invalidateBeside(x *exchange, f *fill, resp *origin.Response) {
	before := p.Purges.Now()
	if marks := p.invalidate(x, resp); before == f.born && p.Purges.Now() == before+marks {
		f.born = before + marks
	}
}

// answer makes resp, which is not the cache's business, the answer to x.
func (f *fill) answer(x *exchange, resp *origin.Response) {
	f.resp, f.head = resp, f.p.forwardHead(&f.job, resp)
	f.head.why = x.reason
	x.from = fromOrigin{f}
}

// storePostAnswer stores the answer to a POST that says it is the representation of its
// own URL (RFC 9110 section 9.3.3), and reports whether x has its answer that way.
// A POST is no sighting; GETs before it have to admit what it brings.
func (p *Proxy) storePostAnswer(x *exchange, f *fill, resp *origin.Response) bool {
	if !bytes.Equal(x.keyedTarget, x.forwarded()) { // what is not keyed had its say
		return false
	}
	if x.target.Ambiguous && !x.route.AllowAmbiguousPath {
		return false
	}
	f.facts.URI = x.uri()
	if rfc9111.Judge(f.facts, responseFacts(resp), f.route.Options).Why != reason.None {
		return false
	}
	if !p.knowsVariant(&f.job, resp) {
		return false
	}
	x.fill, f.resp = f, resp
	f.head = p.judge(&f.job, resp)
	if !f.head.storable() {
		if f.head.fillable() {
			f.account(f.head.why, 0)
		}
		x.fill = nil
		return false
	}
	f.leadUnjoinable(x, x.key)
	p.storeFor(x, f)
	x.reason = reason.None
	return true
}

// uri is the target URI of x.
func (x *incoming) uri() rfc9111.URI {
	return rfc9111.URI{Scheme: x.scheme, Host: string(x.host), Target: string(x.target.Normal)}
}

// fail answers with our own error for an origin's failure.
func (p *Proxy) fail(x *exchange, err error) {
	if p.clientLeft(x) {
		return
	}
	status, why := statusBadGateway, reason.OriginError
	if oe, ok := errors.AsType[*origin.Error](err); ok {
		status, why = failure(oe, x.upload)
		x.failed = oe.Server
		if oe.Queued() {
			p.Metrics.overQueue.note()
		}
	}
	if errors.Is(err, origin.ErrShare) {
		p.Metrics.overConnections.note()
		status, why = statusTooManyRequests, reason.ClientShare
	}
	if isPanic(err) {
		status, why = statusInternalServerError, reason.Panic
		x.closing = true // it is not known what is left of the request
	}
	p.refuse(x, status, why)
	p.logFailure(x, levelFor(why), status, why, x.failed, err)
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
	switch {
	case e.Kind == origin.BadRequest && u != nil:
		return uploadFailure(e)
	case e.Kind == origin.Overload:
		return statusServiceUnavailable, reason.Overload
	case e.Kind == origin.BadRequest:
		return statusBadRequest, reason.BadRequest
	case e.Timeout():
		return statusGatewayTimeout, reason.OriginTimeout
	}
	return statusBadGateway, reason.OriginError
}

// uploadFailure is failure for what went wrong with the client's own body.
func uploadFailure(err error) (int, reason.Reason) {
	switch {
	case errors.Is(err, errBodyTooLarge):
		return statusRequestEntityTooLarge, reason.TooLarge
	case errors.Is(err, errBodyIdle), errors.Is(err, errBodySlow):
		return statusRequestTimeout, reason.ClientTimeout
	case errors.Is(err, errManyTrailers):
		return statusRequestHeaderFieldsTooLarge, reason.BadRequest
	}
	return statusBadRequest, reason.BadRequest
}
