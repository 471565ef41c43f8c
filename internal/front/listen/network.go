package listen

import (
	"net"
	"net/netip"
)

// Network returns the network by which HOST:PORT is opened. A literal of IPv4 is IPv4, also 0.0.0.0, and one of IPv6 is IPv6, also ::, so
// that both can stand side by side. Of a name Go takes one address. An empty host is both.
func Network(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "tcp"
	}
	switch a, err := netip.ParseAddr(host); {
	case err != nil:
		return "tcp"
	case a.Unmap().Is4():
		return "tcp4"
	}
	return "tcp6"
}
