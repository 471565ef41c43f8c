package proxy

import (
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// clientHead is the head of a response as one client gets it.
type clientHead struct {
	fields field.List  // gathered, of a fetched response
	lines  field.Lines // gathered, of a stored one; only one of the two is set

	// held is the stored response that is served. made is the entry of the response that is being fetched, for a follower. With
	// either the answer has an Age of ours. If the origin has answered this very request, both are nil, and own is what the
	// origin has sent.
	held *cache.Object
	made *cache.Entry
	own  *outcome
}

// clientHead returns the head of h as a client gets it. The client whose request the origin has answered gets what the origin
// sent. A follower gets what a hit would give it a moment later: the header of the entry, without the fields that private="X" and
// no-cache="X" name and others that are not stored (RFC 9111 sections 5.2.2.4 and 5.2.2.7). A follower may get nothing else of h,
// so this method alone decides it.
func (h *outcome) clientHead(follower bool) clientHead {
	if !follower {
		return clientHead{fields: h.fields, own: h}
	}
	return clientHead{fields: h.entry.Header, made: h.entry}
}

// storedClientHead returns the head of the stored response e as a client gets it.
func storedClientHead(e *cache.Object) clientHead { return clientHead{lines: e.Header(), held: e} }

// representation is what conditions and Range are compared with.
func (g *clientHead) representation() rfc9111.Representation {
	switch {
	case g.held != nil:
		return storedRepresentation(g.held)
	case g.made != nil:
		return rfc9111.RepresentationOf(int(g.made.Status), g.fields, g.made.ResponseTime)
	}
	return g.own.rep()
}

// storedRepresentation is what conditions and Range are compared with for what is stored.
func storedRepresentation(o *cache.Object) rfc9111.Representation {
	return representationAs(o.Status(), o)
}

// representationAs is storedRepresentation with another status.
func representationAs(status int, o *cache.Object) rfc9111.Representation {
	var room [usualFields]field.Field
	return rfc9111.RepresentationOf(status, o.Header().AppendTo(room[:0]), o.ResponseTime())
}

// usualFields is for how many fields of a stored response there is room on the stack.
const usualFields = 24

// list returns the fields as a list. It makes one of what is stored.
func (g *clientHead) list() field.List {
	if g.held != nil {
		return g.lines.AppendTo(nil)
	}
	return g.fields
}

// aged returns the age at a time of what is served from the store, and for how long it is fresh; false
// where the origin has answered.
func (g *clientHead) aged(at time.Time) (age, lifetime time.Duration, ok bool) {
	switch {
	case g.held != nil:
		return g.held.Age(at), g.held.Lifetime(), true
	case g.made != nil:
		return rfc9111.CurrentAge(g.made.InitialAge, g.made.ResponseTime, at), g.made.Policy.Lifetime, true
	}
	return 0, 0, false
}
