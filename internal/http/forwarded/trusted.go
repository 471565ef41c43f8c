package forwarded

import (
	"net/netip"

	"github.com/gaissmai/bart"
)

// Trusted is a set of networks whose proxies are believed. It is safe for concurrent
// use; nil trusts nobody.
type Trusted struct {
	networks bart.Lite
}

// New returns the set of networks, nil where there are none.
func New(networks []netip.Prefix) *Trusted {
	if len(networks) == 0 {
		return nil
	}
	t := &Trusted{}
	for _, n := range networks {
		t.networks.Insert(n)
	}
	return t
}

// Holds reports whether a proxy at a is believed. An IPv4 address that is mapped into
// IPv6 must have been unmapped.
func (t *Trusted) Holds(a netip.Addr) bool { return t != nil && t.networks.Lookup(a) }
