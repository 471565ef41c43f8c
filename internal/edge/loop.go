package edge

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"edgeproxy/config"
)

// socketPrefix begins the address of a Unix domain socket.
const socketPrefix = "unix:"

// loopWarnings warns of origin servers that are one of our own listeners: a request would loop back and be refused.
// No host name except localhost is resolved.
func loopWarnings(c *config.Config) []config.Warning {
	ours := localAddresses()
	return loops(c, func(server, listener string) bool { return endsAt(server, listener, ours) }, "this is edgeproxy itself")
}

// loops warns of origin servers that are a listener by the function is.
func loops(c *config.Config, is func(server, listener string) bool, what string) (out []config.Warning) {
	for _, o := range c.Origins {
		for i, s := range o.Servers {
			j := slices.IndexFunc(c.Listen, func(l config.Listen) bool { return is(s.Address, l.Address) })
			if j < 0 {
				continue
			}
			at := fmt.Sprintf("origins.%s.servers[%d]", o.Name, i)
			out = append(out, c.Warn(c.Given(at+".url", at), fmt.Sprintf("%s (listen[%d]): requests loop back, and are answered with 508", what, j)))
		}
	}
	return out
}

// resolveTimeout bounds all that ResolvedWarnings waits for names.
const resolveTimeout = 2 * time.Second

// ResolvedWarnings warns of origin servers whose host name resolves to one of our own listeners. It asks the resolver of this
// machine for names of servers with the port of a listener. Of a name that is not resolved in time it says nothing.
func ResolvedWarnings(ctx context.Context, c *config.Config) []config.Warning {
	return resolvedLoops(ctx, c, localAddresses(), net.DefaultResolver.LookupNetIP)
}

func resolvedLoops(ctx context.Context, c *config.Config, ours []netip.Addr, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) []config.Warning {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	known := map[string][]netip.Addr{}
	return loops(c, func(server, listener string) bool {
		if strings.HasPrefix(server, socketPrefix) || endsAt(server, listener, ours) { // loopWarnings says so
			return false
		}
		host, port, err := net.SplitHostPort(server)
		_, listens, listenErr := net.SplitHostPort(listener)
		if _, named := hostAddresses(host); err != nil || listenErr != nil || port != listens || !named {
			return false
		}
		addresses, asked := known[host]
		if !asked {
			addresses, _ = lookup(ctx, "ip", host)
			known[host] = addresses
		}
		return slices.ContainsFunc(addresses, func(a netip.Addr) bool {
			return endsAt(net.JoinHostPort(a.Unmap().WithZone("").String(), port), listener, ours)
		})
	}, "by its name this is edgeproxy itself")
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
		return l == a || l.IsUnspecified() && l.Is4() == a.Is4()
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
