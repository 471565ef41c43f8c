package edge

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"edgeproxy/config"
)

// socketPrefix begins the address of a Unix domain socket.
const socketPrefix = "unix:"

// loopWarnings warns of origin servers that are one of our own listeners: a request would loop back and be refused.
// No host name except localhost is resolved.
func loopWarnings(c *config.Config) (out []config.Warning) {
	ours := localAddresses()
	for _, o := range c.Origins {
		for i, s := range o.Servers {
			j := slices.IndexFunc(c.Listen, func(l config.Listen) bool { return endsAt(s.Address, l.Address, ours) })
			if j < 0 {
				continue
			}
			at := fmt.Sprintf("origins.%s.servers[%d]", o.Name, i)
			out = append(out, c.Warn(c.Given(at+".url", at), fmt.Sprintf("this is edgeproxy itself (listen[%d]): requests loop back, and are answered with 508", j)))
		}
	}
	return out
}

// localAddresses returns the addresses of this machine's interfaces.
func localAddresses() (out []netip.Addr) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil // the result is only for a warning
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	return out
}

// endsAt reports whether a connection to the address server ends at the address listener. ours are the addresses of
// this machine.
func endsAt(server, listener string, ours []netip.Addr) bool {
	if strings.HasPrefix(server, socketPrefix) {
		return server == listener
	}
	host, port, err := net.SplitHostPort(server)
	at, listens, listenErr := net.SplitHostPort(listener)
	if err != nil || listenErr != nil || port != listens {
		return false
	}
	to, named := hostAddresses(host)
	if named {
		return strings.EqualFold(host, at)
	}
	return slices.ContainsFunc(to, func(a netip.Addr) bool {
		if a.IsUnspecified() { // the kernel connects to loopback instead
			a = loopbackLike(a)
		}
		return accepts(at, a) && (a.IsLoopback() || slices.Contains(ours, a))
	})
}

// accepts reports whether a listener at host, "" for every address, gets connections to a.
func accepts(host string, a netip.Addr) bool {
	addresses, named := hostAddresses(host)
	switch {
	case host == "":
		return true
	case named:
		return false
	}
	return slices.ContainsFunc(addresses, func(l netip.Addr) bool {
		return l == a || l.IsUnspecified() && (l.Is6() || a.Is4())
	})
}

// hostAddresses returns the addresses of an IP literal or localhost. named reports that host is a name to resolve.
func hostAddresses(host string) (out []netip.Addr, named bool) {
	if strings.EqualFold(host, "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, false
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return nil, true
	}
	return []netip.Addr{a.Unmap().WithZone("")}, false
}

// loopbackLike returns the loopback address of a's IP version.
func loopbackLike(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.IPv6Loopback()
}
