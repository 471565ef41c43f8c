package config

import (
	"errors"
	"fmt"
	"net/netip"
)

// Purge says who may purge by the method PURGE on the listeners for clients. The
// admin listener needs no permission.
type Purge struct {
	Allow []netip.Prefix // peers of connections; if empty, PURGE is a method like any other
}

const wantNetwork = "want an address or network, such as 127.0.0.1 or 10.0.0.0/8"

func (p *Purge) table() table {
	return table{
		live("allow", networks(&p.Allow, "want a list, such as [127.0.0.1]"),
			"Addresses and networks that may use the method PURGE on a URL.").withExample("[127.0.0.1]"),
	}
}

// networks is a list of addresses and networks.
func networks(field *[]netip.Prefix, want string) *scalar[[]netip.Prefix] {
	return list(field, nil, "addresses and networks", want, func(n *netip.Prefix) *scalar[netip.Prefix] {
		return parsed(n, netip.Prefix{}, "address or network", wantNetwork, parseNetwork, func(n netip.Prefix) string {
			if n.IsSingleIP() {
				return n.Addr().String()
			}
			return n.String()
		})
	})
}

// parseNetwork reads an address, or a network as FIRST/BITS with its first address. The
// error says what is wanted.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	n, err := netip.ParsePrefix(text)
	if err != nil || n.Addr().Is4In6() {
		return netip.Prefix{}, errors.New(wantNetwork)
	}
	if first := n.Masked(); first != n {
		return netip.Prefix{}, fmt.Errorf("%s: this network is %s", wantNetwork, first)
	}
	return n, nil
}
