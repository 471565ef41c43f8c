package proxy

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
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
	if p.PeerOf != nil { // what it tells is known until the connection is handed over
		x.peer, x.peerKnown = p.PeerOf(x.req.Conn)
	}
	x.method = x.req.Method
	if l.livez.Load() && l.asksLivez(x) {
		x.readFields()
		x.answerText(statusOK, resultPass)
		x.uncounted = true
	} else if status, why := p.checkRequest(x, l.trusted.Load()); status != 0 {
		p.refuse(x, status, why)
		x.closing = true // the fault may be in the framing: then it is unknown where the next request begins
	} else if (x.seen.loop || x.seen.via) && p.loops(x) {
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
	if trusted != nil {
		x.readForwarded(trusted)
	}
	if status := p.readTarget(x); status != 0 {
		return status, reason.BadRequest
	}
	if x.seen.expect || x.asks.body {
		return p.expectation(x), reason.BadRequest
	}
	return 0, reason.None
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
func (x *incoming) readHost(authority []byte) bool {
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
func (x *incoming) canonicalHost(raw []byte) bool {
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

// maxHops is how many proxies in front of this one are believed, the peer included.
const maxHops = 16

// peerAddress returns the address that the connection comes from: the one that a load balancer
// has told by the PROXY protocol, else that of the socket. It returns the zero Addr where there
// is none.
func (x *incoming) peerAddress() netip.Addr {
	if x.peerKnown {
		return x.peer
	}
	switch a := x.req.Conn.RemoteAddr().(type) {
	case *net.TCPAddr:
		ip, _ := netip.AddrFromSlice(a.IP)
		return ip.Unmap()
	default:
		return netip.Addr{}
	}
}

// ClientAddress implements template.Client: the client's address, as far as the peer is trusted to tell it.
func (x *incoming) ClientAddress() netip.Addr {
	if x.trusted != nil {
		return x.client
	}
	return x.peerAddress()
}

// readForwarded takes over what the peer says of the client, if t trusts the peer: the client's
// address, and the scheme and host by which the request is then keyed, routed and forwarded. It
// allocates nothing.
//
// Proxies write X-Forwarded fields themselves, and most pass a client's Forwarded on as it came.
// So Forwarded counts only where there is no X-Forwarded field.
func (x *incoming) readForwarded(t *forwarded.Trusted) {
	x.client = x.peerAddress()
	if !t.Holds(x.client) {
		return
	}
	x.trusted = t
	var room [maxHops]netip.Addr
	chain, proto, host := x.forwardedInfo(append(room[:0], x.client))
	x.client = chain[len(chain)-1]
	x.forwardedHost = host
	switch {
	case strings.EqualFold(string(proto), schemeSecure):
		x.scheme = schemeSecure
	case strings.EqualFold(string(proto), schemePlain):
		x.scheme = schemePlain
	}
}

// forwardedInfo returns what the trusted peer says. The chain begins with the peer and ends with
// the client.
func (x *incoming) forwardedInfo(peer []netip.Addr) (chain []netip.Addr, proto, host []byte) {
	switch {
	case x.seen.xForwarded:
		proto = forwarded.Last(x.fieldLines("X-Forwarded-Proto"))
		host = forwarded.Last(x.fieldLines("X-Forwarded-Host"))
		return x.trusted.XForwardedFor(peer, x.fieldLines("X-Forwarded-For")), proto, host
	case x.seen.forwarded:
		return x.trusted.Forwarded(peer, x.fieldLines("Forwarded"))
	}
	return peer, nil, nil
}

// forwardedFor returns X-Forwarded-For as the origin gets it: the client, then the proxies that
// were believed, the peer last, which is given. It has nothing that the client wrote itself. It is
// empty where there is no address.
func (x *incoming) forwardedFor(peer string) string {
	if peer == "" || x.trusted == nil {
		return peer
	}
	chain, _, _ := x.forwardedInfo(append(make([]netip.Addr, 0, maxHops), x.peerAddress()))
	var b strings.Builder
	for i, addr := range slices.Backward(chain) {
		b.WriteString(addr.String())
		if i > 0 {
			b.WriteString(", ")
		}
	}
	return b.String()
}

const headerCDNLoop = "Cdn-Loop" // canonical

// maxPassed is the most members that Via or CDN-Loop may have, so the most proxies that a
// request may have passed. It ends a loop through a proxy that drops CDN-Loop.
const maxPassed = 20

// loops reports whether the request has passed this process before (RFC 8586), or too many
// proxies.
//
// It looks for the id that this process took at its start, anywhere in the field. Two nodes may
// have the same name and stand behind each other, and an open quote that a client wrote could
// hide a member from a parser. The id is random, and only origins see it.
func (p *Proxy) loops(x *exchange) bool {
	if x.seen.loop {
		lines := x.fieldLines(headerCDNLoop)
		for _, line := range lines {
			if bytes.Contains(line, p.instance) {
				return true
			}
		}
		if members(lines) > maxPassed {
			return true
		}
	}
	return x.seen.via && members(x.fieldLines("Via")) > maxPassed
}

// members counts the members of a list by its commas. It counts commas in comments and quoted
// strings, too.
func members(lines [][]byte) int {
	n := 0
	for _, line := range lines {
		n += bytes.Count(line, []byte(",")) + 1
	}
	return n
}

// forwardedList returns the field called name as it is forwarded: the client's members as they came,
// then our own (RFC 9110 section 7.6.3, RFC 8586 section 2). Connection cannot remove it.
func (x *incoming) forwardedList(name, own string) string {
	lines := x.fieldLines(name)
	if len(lines) == 0 {
		return own
	}
	var b strings.Builder
	for _, line := range lines {
		if len(line) > 0 {
			b.Write(line)
			b.WriteString(", ")
		}
	}
	b.WriteString(own)
	return b.String()
}

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
