package proxy

import (
	"net/netip"

	"edgeproxy/internal/forwarded"
)

// The schemes that a request can have. That of every listener there is so far is
// plain; a trusted proxy in front may have had it by the other.
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
	trusted *forwarded.Trusted
}

// Listener returns a listener that believes what peers in trusted say of the client:
// its address, scheme and host. Call it before any request is served.
func (p *Proxy) Listener(trusted []netip.Prefix) *Listener {
	l := &Listener{proxy: p, trusted: forwarded.New(trusted)}
	p.secure = p.secure || l.trusted != nil
	return l
}

// served reports whether requests may have this scheme.
func (p *Proxy) served(scheme string) bool {
	return scheme == schemePlain || scheme == schemeSecure && p.secure
}
