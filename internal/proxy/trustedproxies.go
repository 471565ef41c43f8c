package proxy

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"edgeproxy/internal/http/forwarded"
)

// maxHops is how many proxies in front of this one are believed, the peer included.
const maxHops = 16

// peerAddress returns the address that the connection comes from: the one that a load balancer
// has told by the PROXY protocol, else that of the socket. It returns the zero Addr where there
// is none.
func (x *exchange) peerAddress() netip.Addr {
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
func (x *exchange) ClientAddress() netip.Addr {
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
func (x *exchange) readForwarded(t *forwarded.Trusted) {
	if t == nil {
		return
	}
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
func (x *exchange) forwardedInfo(peer []netip.Addr) (chain []netip.Addr, proto, host []byte) {
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
func (x *exchange) forwardedFor(peer string) string {
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
