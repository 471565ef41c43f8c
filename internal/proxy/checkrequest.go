package proxy

import (
	"edgeproxy/internal/message"
	"edgeproxy/internal/reason"
)

// Expect implements message.Engine: it decides what a client that sends Expect: 100-continue is
// told before it sends the body.
func (l *Listener) Expect(r *message.Request, a *message.Answer) (goOn bool) {
	p := l.proxy
	x := p.acquireExchange(r, a, l.scheme)
	defer func() {
		if v := recover(); v != nil {
			x.unseen = false
			p.rescue(x, v)
			goOn = false
		}
		p.record(x)
	}()
	l.receive(x)
	if x.status == 0 && !p.findRoute(x) {
		p.refuse(x, statusNotFound, reason.NoRoute)
	}
	if x.status == 0 {
		x.unseen = true // Begin sees the same request again
		return true
	}
	p.deliver(x)
	return false
}
