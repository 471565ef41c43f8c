package config

import (
	"errors"
	"fmt"
	"net/netip"
)

// Purge says who may purge on the listeners for clients, by PURGE, BAN and the like. Where both are set, both are needed. Without
// either, these are methods like any other. The admin listener has a token of its own.
type Purge struct {
	Allow []netip.Prefix // peers of connections; empty is any
	// TokenFile is the path of a file that holds the token of such requests, sent as Authorization: Bearer. White space around
	// the token is ignored. This package does not read the file.
	TokenFile string
}

const wantNetwork = "must be an address or network, such as 127.0.0.1 or 10.0.0.0/8"

func (p *Purge) table() table {
	return table{
		live("allow", networks(&p.Allow, "must be a list, such as [127.0.0.1]"),
			"Addresses and networks that may purge by PURGE, BAN and the like what is stored for the host of the request.").withExample("[127.0.0.1]"),
		live("token_file", textual(&p.TokenFile, ""),
			"A file with the token that such a purge needs as Authorization: Bearer. With allow, both are needed.").withExample("/etc/edgeproxy/purge-token"),
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
