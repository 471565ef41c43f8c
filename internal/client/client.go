// Package client says who counts as one client where limits are shared out.
//
// It answers one question: which client does this address belong to? An IPv4 client is
// its address. An IPv6 client is its /64, for a site has at least that many addresses
// (RFC 6177). The package knows no connection and no request: the caller finds the address,
// also behind trusted proxies.
package client

import "net/netip"

// ipv6Site is the length of the prefix that is one IPv6 client.
const ipv6Site = 64

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
