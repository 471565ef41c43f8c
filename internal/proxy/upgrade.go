package proxy

import (
	"strings"
	"time"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
)

// upgrade asks the origin to switch to one of protocols (RFC 9110 section 7.8). What
// it answers is never stored or shared. An origin that does not switch gives an
// ordinary answer, and its connection and the client's go on with HTTP.
func (p *Proxy) upgrade(x *exchange, protocols string) {
	if p.draining.Load() {
		p.refuse(x, statusServiceUnavailable, reason.Overload) // it would be cut soon
		return
	}
	if !p.enterTunnels(x) {
		return
	}
	j := &p.newFill(x, false).job
	j.request.Upgrade = protocols
	j.request.Interim = p.interimSender(x)
	resp, err := p.trip(x, j.request)
	if err != nil || resp.Upgraded == nil {
		p.leaveTunnels(x)
	}
	if err != nil {
		p.fail(x, err)
		return
	}
	x.got = resp
	p.invalidate(x, resp)
	h := p.forwardHead(j, resp)
	h.why = x.reason
	x.from, x.head = direct{resp}, h
	if resp.Upgraded != nil {
		x.from = switched{resp}
	}
}

// switched answers with a 101, and after it with whatever comes both ways until one side ends.
type switched struct{ *origin.Response }

func (switched) heading(x *exchange) heading {
	x.guest.Release() // the tunnel reads what the client sends
	return heading{status: statusSwitchingProtocols, fields: x.head.fields, cut: cut{length: -1}, size: -1}
}

func (s switched) send(x *exchange, _ cut) {
	p, conn := x.p, x.req.Conn
	x.addLine("Upgrade: ", strings.Join(s.Header.Values("Upgrade"), ", "))
	t := &tunnel{p: p, x: x, conn: conn, origin: s.Upgraded, limit: x.settings.UpgradeIdle, halfLimit: x.settings.ReadIdle}
	// Where an interim response has failed the connection is closed, and the server
	// would not hand it over.
	if conn.SetDeadline(time.Time{}) != nil || !p.tunnels.add(t) {
		_ = s.Upgraded.Close()
		x.head, x.closing = nil, true
		x.answer.Reset()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		p.deliver(x)
		return
	}
	x.streaming, x.firstByte = true, -1
	p.giveUpPlace(x)
	x.answer.TakeOver = t.serve
}

func (s switched) leave(x *exchange) { s.send(x, cut{}) }

func (s switched) abandon() { s.Abandon() }

// carriesHTTP reports whether a protocol carries requests as HTTP does. Switching to
// it would let a client send them past the gate, the routes and the limits; h2c has
// been used for just that, and RFC 9113 has given it up (section 3.1).
func carriesHTTP(protocol string) bool {
	name, _, _ := strings.Cut(protocol, "/")
	switch strings.ToLower(name) {
	case "h2c", "h2", "http", "https", "tls":
		return true
	}
	return false
}
