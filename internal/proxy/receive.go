package proxy

import (
	"strings"

	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/method"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/wire"
)

// receive takes the request apart: target, host and what the request
// asks of a cache. What cannot be understood in one way only
// leaves x with a status to refuse it with.
func (l *Listener) receive(x *exchange) {
	p := l.proxy
	p.askPeer(x)
	x.method = x.req.Method
	if l.asksLivez(x) {
		x.readFields()
		x.answerText(statusOK, resultPass)
		x.uncounted = true
	} else if status, why := p.checkRequest(x, l.trusted.Load()); status != 0 {
		p.refuse(x, status, why)
		x.closing = true // the fault may be in the framing: then it is unknown where the next request begins
	} else if p.loops(x) {
		p.refuse(x, statusLoopDetected, reason.Loop)
	}
}

// checkRequest returns the status to refuse x with, and why; 0 for none. It comes before anything
// else that is done for a request, also before a 100 (Continue).
func (p *Proxy) checkRequest(x *exchange, trusted *forwarded.Trusted) (status int, why reason.Reason) {
	x.readFields()
	switch fault := x.req.Fault; {
	case fault != nil && fault.TimedOut:
		return fault.Status, reason.ClientTimeout
	case fault != nil && fault.WithoutTLS:
		x.scheme = schemePlain
		return fault.Status, reason.PlainHTTP
	case fault != nil:
		return fault.Status, reason.BadRequest
	case len(x.fields) > x.settings.HeaderCount:
		return statusRequestHeaderFieldsTooLarge, reason.BadRequest
	}
	x.readForwarded(trusted)
	if status := p.readTarget(x); status != 0 {
		return status, reason.BadRequest
	}
	return p.expectation(x), reason.BadRequest
}

// acquireExchange takes an exchange for r and its answer.
func (p *Proxy) acquireExchange(r *message.Request, a *message.Answer, scheme string) *exchange {
	x := p.exchanges.Get().(*exchange)
	x.p, x.req, x.answer, x.start, x.scheme = p, r, a, r.Received, scheme
	x.settings = p.settings.Load()
	x.closing = p.draining.Load()
	p.inFlight.Add(1)
	return x
}

// askPeer finds who stands for the connection's own address. It is known until the
// connection is handed over.
func (p *Proxy) askPeer(x *exchange) {
	if p.PeerOf != nil {
		x.peer, x.peerKnown = p.PeerOf(x.req.Conn)
	}
}

// readTarget parses method, target and host; it returns the status to refuse
// with, 0 for none.
func (p *Proxy) readTarget(x *exchange) int {
	raw := x.req.Target
	switch {
	case len(raw) > x.settings.TargetBytes:
		return statusRequestURITooLong
	case method.Refused(x.method):
		return statusMethodNotAllowed
	case !wire.ValidMethod(x.method):
		return statusBadRequest
	}
	target, err := wire.ParseTarget(raw, x.scheme, string(x.method) == "OPTIONS", &x.spelling)
	if err != nil && x.purges() {
		target, err = purgedTarget(raw, err)
	}
	switch {
	case err != nil || !x.readHost(target.Authority):
		return statusBadRequest
	case len(target.Normal) > x.settings.TargetBytes: // bytes beyond ASCII take three
		return statusRequestURITooLong
	}
	x.target = target
	return 0
}

// readHost finds the host: the one that a trusted proxy was asked for, the authority
// of the target, or Host. Each that is there has to be in order (RFC 9112 sections
// 3.2 and 3.2.2), but what the proxy tells is passed over if it is not.
func (x *exchange) readHost(authority []byte) bool {
	host := x.req.Host
	if authority != nil {
		if len(host) > 0 && !x.canonicalHost(host) { // HTTP/1.0 has none
			return false
		}
		host = authority
	}
	if !x.canonicalHost(host) {
		return false
	}
	if x.forwardedHost != nil && !x.canonicalHost(x.forwardedHost) {
		return x.canonicalHost(host) // which was written over
	}
	return true
}

// canonicalHost makes x's host the canonical form of raw and reports whether it has
// one.
func (x *exchange) canonicalHost(raw []byte) bool {
	host, err := wire.AppendHost(x.scratch[:0], raw, x.scheme)
	if err != nil {
		return false
	}
	x.scratch, x.host = host, host
	return true
}

// expectation returns the status to refuse with when the request expects what
// we do not do, or announces a body that is too large; 0 for none.
func (p *Proxy) expectation(x *exchange) int {
	if x.seen.expect && x.req.Version >= message.HTTP11 {
		for _, e := range x.fieldLines("Expect") {
			if len(e) > 0 && !strings.EqualFold(string(e), "100-continue") {
				return statusExpectationFailed
			}
		}
	}
	if x.asks.body && x.req.Body.Length() > x.settings.BodyBytes {
		return statusRequestEntityTooLarge
	}
	return 0
}
