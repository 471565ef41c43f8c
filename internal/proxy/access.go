package proxy

import (
	"net/netip"
	"slices"

	"edgeproxy/internal/basicauth"
)

// Access says which clients a route is for. The zero Access is for all.
type Access struct {
	// Deny are refused, by their addresses: that of the connection, or what a trusted proxy tells. Of the others
	// Allow are served, or all where there is none.
	Allow, Deny []netip.Prefix
	// Users are those whose requests are answered; nil is everybody. Their Authorization stays here. Realm is
	// what clients are told that they are asked for: visible ASCII and spaces, without " and \.
	Users *basicauth.Users
	Realm string
}

// admits reports whether a client may use the route. One without an address, behind a socket in the
// file system, is in no network.
func (a *Access) admits(client netip.Addr) bool {
	client = client.Unmap()
	in := func(n netip.Prefix) bool { return n.Contains(client) }
	return !slices.ContainsFunc(a.Deny, in) && (len(a.Allow) == 0 || slices.ContainsFunc(a.Allow, in))
}

// guarded reports whether the route is for some addresses only.
func (a *Access) guarded() bool { return len(a.Allow)+len(a.Deny) > 0 }
