package proxy

import (
	"net/netip"
	"slices"
)

// Access says which clients a route is for, by their addresses: that of the connection, or what a trusted
// proxy tells. The zero Access is for all.
type Access struct {
	// Deny are refused. Of the others Allow are served, or all where there is none.
	Allow, Deny []netip.Prefix
}

// admits reports whether a client may use the route. One without an address, behind a socket in the
// file system, is in no network.
func (a *Access) admits(client netip.Addr) bool {
	client = client.Unmap()
	in := func(n netip.Prefix) bool { return n.Contains(client) }
	return !slices.ContainsFunc(a.Deny, in) && (len(a.Allow) == 0 || slices.ContainsFunc(a.Allow, in))
}

// guarded reports whether the route has something to say of who may use it.
func (a *Access) guarded() bool { return len(a.Allow)+len(a.Deny) > 0 }
