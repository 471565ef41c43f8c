package proxy

import (
	"net"
	"strings"
	"sync/atomic"
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/proxy/internal/tunnel"
)

// upgrade asks the origin to switch to one of protocols (RFC 9110 section 7.8). What
// it answers is never stored or shared. An origin that does not switch gives an
// ordinary answer, and its connection and the client's go on with HTTP.
func (p *Proxy) upgrade(x *exchange, protocols string) {
	if p.draining.Load() {
		p.refuse(x, statusServiceUnavailable, reason.Overload) // it would be cut soon
		return
	}
	if !p.acquireTunnel(x) {
		return
	}
	f := p.newFill(x, false)
	f.request.Upgrade = protocols
	f.request.Interim = p.interimSender(x)
	resp, err := f.askForOneClient(x.presence)
	if err != nil || resp.Upgraded == nil {
		p.releaseTunnel(x)
	}
	if err != nil {
		p.fail(x, err)
		return
	}
	x.originResponse = resp
	p.invalidate(x, resp)
	f.answer(x, resp)
	if resp.Upgraded != nil {
		x.from = switched{f}
	}
}

// switched answers with a 101, and after it with whatever comes both ways until one side ends.
type switched struct{ *fill }

func (s switched) heading(x *exchange) heading {
	x.presence.Release() // the tunnel reads what the client sends
	return heading{clientHead: s.head.clientHead(false), status: statusSwitchingProtocols, size: -1}
}

func (s switched) send(x *exchange, _ selection) {
	p, conn := x.p, x.req.Conn
	sent, received := x.run.Counts()
	x.addLine("Upgrade: ", strings.Join(s.resp.Header.Values("Upgrade"), ", "))
	t := tunnel.New(conn, s.resp.Upgraded, tunnel.Options{
		UpgradeIdleTimeout: x.settings.UpgradeIdleTimeout, ReadIdleTimeout: x.settings.ReadIdleTimeout, WriteIdleTimeout: p.WriteIdleTimeout, Now: now, Panics: p.Panics, Sent: sent, Received: received,
	})
	// Where an interim response has failed the connection is closed, and the server
	// would not hand it over.
	if conn.SetDeadline(time.Time{}) != nil || !p.tunnels.Add(t) {
		_ = s.resp.Upgraded.Close()
		x.closing = true
		x.answer.Reset()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		p.deliver(x)
		return
	}
	x.streaming, x.firstByte = true, -1
	p.releaseSlot(x)
	x.answer.TakeOver = func(client net.Conn, head []byte) { p.tunnel(x, t, client, head) }
}

func (s switched) leave(x *exchange) { s.send(x, selection{}) }

func (s switched) abandon() { s.resp.Abandon() }

// tunnel sends the head of the answer, has t run to its end and records the request. It is
// called in place of the front's sending.
func (p *Proxy) tunnel(x *exchange, t *tunnel.Tunnel, client net.Conn, head []byte) {
	defer p.tunnels.Remove(t)
	defer p.record(x)
	end := t.Run(client, head)
	x.received, x.bytes = end.Up, end.Down
	if !end.HeadSent.IsZero() {
		x.firstByte = end.HeadSent.Sub(x.start)
	}
	if end.Err != nil {
		p.logTunnel(x, end)
	}
}

// tunnels are all those of a Proxy. It is safe for concurrent use.
type tunnels struct {
	tunnel.Set
	open   atomic.Int64 // taken; also by requests that ask the origin for one
	shares *clientSlots // the slots of clients in them
}

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
