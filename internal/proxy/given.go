package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
	"edgeproxy/internal/rfc9111"
)

// given is what one client gets of the head of a response.
type given struct {
	fields field.List // gathered

	// held is the stored response that it is served from, so that its Age is ours to say. Where
	// the origin has answered this very request that is nil, and own what the origin has sent.
	held *cache.Entry
	own  *outcome
}

// given returns what a client gets of h. The client whose request the origin has answered
// gets what the origin sent. Any other client is a follower, and gets what a hit would give
// it a moment later: the header of the entry. That lacks the fields which private="X" and
// no-cache="X" name, and others that are not stored (RFC 9111 sections 5.2.2.4 and 5.2.2.7).
// A follower may get nothing else of h, so only this method decides it.
func (h *outcome) given(follower bool) given {
	if !follower {
		return given{fields: h.fields, own: h}
	}
	return givenFrom(h.entry)
}

// givenFrom returns what a client gets of the stored response e.
func givenFrom(e *cache.Entry) given { return given{fields: e.Header, held: e} }

// representation is what conditions and Range are compared with.
func (g *given) representation() rfc9111.Representation {
	if g.held == nil {
		return g.own.rep
	}
	return storedRepresentation(g.held)
}

// storedRepresentation is what conditions and Range are compared with for an entry.
func storedRepresentation(e *cache.Entry) rfc9111.Representation {
	return rfc9111.RepresentationOf(int(e.Status), e.Header, e.ResponseTime)
}
