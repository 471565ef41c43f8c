package proxy

import (
	"net/netip"

	"edgeproxy/internal/forwarded"
)

// The schemes that a request can have: that of its listener, or of a trusted proxy's in
// front.
const (
	schemePlain  = "http"
	schemeSecure = "https"
)

// defaultPort is the port of a host without one.
func defaultPort(scheme string) int {
	if scheme == schemeSecure {
		return 443
	}
	return 80
}

// Listener serves what comes in at one address. It is safe for concurrent use.
type Listener struct {
	proxy   *Proxy
	scheme  string
	trusted *forwarded.Trusted
}

// Listener returns a listener for connections that are of TLS or not. It believes what
// peers in trusted say of the client: its address, scheme and host. Call it before any
// request is served.
func (p *Proxy) Listener(secure bool, trusted []netip.Prefix) *Listener {
	l := &Listener{proxy: p, scheme: schemePlain, trusted: forwarded.New(trusted)}
	if secure {
		l.scheme = schemeSecure
	}
	p.plain = p.plain || !secure || l.trusted != nil
	p.secure = p.secure || secure || l.trusted != nil
	return l
}

// served reports whether requests may have this scheme.
func (p *Proxy) served(scheme string) bool {
	return scheme == schemePlain && p.plain || scheme == schemeSecure && p.secure
}
