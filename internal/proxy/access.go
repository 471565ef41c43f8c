package proxy

import (
	"net/netip"
	"slices"

	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/basicauth"
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

// Routes match the path with dot segments resolved, and the origin gets it with them. An origin that reads it in another
// way would serve, on an open route, what a closed one is for. So a path with several readings goes to the origin only if
// the routes of all of them would let it.

// admittedHoweverRead reports whether the route of x, and those that it would have by other readings of its path, let its client in. Users are
// those of its route. A path with one reading costs next to nothing.
func (x *exchange) admittedHoweverRead() bool {
	if !x.target.Ambiguous && wire.ReadAlike(x.path) || x.route.answer != nil { // then no origin reads it
		return true
	}
	method := x.routeMethod()
	readings, anywhere := wire.Readings(x.target.Path)
	if anywhere {
		return x.admittedEverywhere(method)
	}
	return !slices.ContainsFunc(readings, func(path []byte) bool { return !x.admittedAs(x.routeAt(path, method)) })
}

// admittedEverywhere reports whether the client of x is let in whatever its path.
func (x *exchange) admittedEverywhere(method []byte) bool {
	for _, r := range x.settings.routes {
		if !r.takesBesidePath(x, method) {
			continue
		}
		if !x.admittedAs(r) {
			return false
		}
		if r.TakesEveryPath() { // no route behind it matters
			return true
		}
	}
	return true
}

// admittedAs reports whether r lets x go on to an origin, as its own route does. A route that answers with an error does not; nil, no
// route, closes nothing.
func (x *exchange) admittedAs(r *route) bool {
	switch {
	case r == x.route, r == nil:
		return true
	case r.answer != nil && r.answer.Status >= statusBadRequest:
		return false
	}
	return (!r.Access.guarded() || r.Access.admits(x.ClientAddress())) && (r.Access.Users == nil || r.Access.Users == x.route.Access.Users)
}
