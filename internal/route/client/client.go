// Package client says who counts as one client where limits are shared out.
//
// It answers one question: which client does this address belong to? An IPv4 client is
// its address. An IPv6 client is its /64, for a site has at least that many addresses
// (RFC 6177). The network of a client is its /24, or its /48 of IPv6. The package knows no connection and no request: the caller finds the address,
// also behind trusted proxies.
package client

import "net/netip"

// ipv6Site is the length of the prefix that is one IPv6 client.
const ipv6Site = 64

// The prefix lengths of what counts as one network.
const (
	ipv4Network = 24
	ipv6Network = 48
)

// Of returns the client that has addr. IPv4 addresses that are mapped into IPv6 count as
// IPv4, and zones do not count. ok is false for the zero Addr, which belongs to nobody:
// a peer behind a socket in the file system has no address.
func Of(addr netip.Addr) (c netip.Prefix, ok bool) {
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() {
		return netip.Prefix{}, false
	}
	bits := addr.BitLen()
	if addr.Is6() {
		bits = ipv6Site
	}
	c, err := addr.Prefix(bits)
	return c, err == nil
}

// NetworkOf returns the network of a client. The zero Prefix, that of clients without an address, is its own.
func NetworkOf(c netip.Prefix) netip.Prefix {
	bits := ipv4Network
	if c.Addr().Is6() {
		bits = ipv6Network
	}
	n, err := c.Addr().Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return n
}
