package proxy

import (
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
)

// Expect implements message.Engine: it decides what a client that sends Expect: 100-continue is
// told before it sends the body. It may wait, for a password takes its time.
func (l *Listener) Expect(r *message.Request, a *message.Answer) (goOn bool) {
	p := l.proxy
	x := p.acquireExchange(r, a, l.scheme)
	defer func() {
		if v := recover(); v != nil {
			p.rescue(x, v)
			goOn = false
		}
		p.record(x)
	}()
	l.receive(x)
	if x.status == 0 && p.mayUseRoute(x) {
		x.uncounted = true // Begin sees the same request again
		return true
	}
	p.deliver(x)
	return false
}

// mayUseRoute reports whether the client of x may use the route that x has, and refuses it otherwise. It leaves nothing behind but
// that a password is remembered, for decide asks all of it again.
func (p *Proxy) mayUseRoute(x *exchange) bool {
	switch found := p.findRoute(x); {
	case x.purges():
		return true // which is refused if it has content
	case !found:
		p.refuse(x, statusNotFound, reason.NoRoute)
		return false
	case !p.admitsClient(x):
		return false
	case x.route.Access.Users != nil && !p.authenticatedBefore(x) && (p.refuseOrAuthenticate(x) == refused || !p.authenticated(x)):
		return false
	case x.route.answer != nil && x.route.answer.Status == statusNoAnswer: // nor is 100 sent
		x.answerItself()
		return false
	}
	p.refundRate(x)
	return true
}
