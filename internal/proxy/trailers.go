package proxy

import (
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
)

// Trailers (RFC 9110 section 6.5) go from the origin to a client that takes them, behind
// a body sent in chunks, and from a client to the origin behind an upload that goes on
// in chunks. rfc9111.Trailers says which fields may. They are never merged into a header
// and never stored: a hit has none, and so has a follower, which gets what a hit would. The
// leader of a flight gets them with its end.
//
// An origin is told by TE that they are welcome only where its answer goes to that
// client alone, for TE speaks for all that get it (RFC 9110 section 10.1.4). TE is not in
// the key, so what varies on it is then not stored.

// announced returns the names of the trailers that may come behind resp; "" if none may.
func announced(resp *origin.Response) string {
	if resp.ContentLength >= 0 || !resp.Body.Framed() { // it does not come in chunks
		return ""
	}
	return rfc9111.Announced(resp.Header)
}

// takesTrailers reports whether the client of x takes trailers behind a body in chunks, and
// may have them.
func (x *exchange) takesTrailers() bool {
	if x.collapsed {
		return false
	}
	return x.req.TakesTrailers || x.asksTrailers()
}

// announceTrailers adds the announcement of trailers to the head of x's answer, which is h cut like c, if
// they may come and the client takes them.
func (x *exchange) announceTrailers(h *outcome, c selection) {
	if c.length < 0 && h.announced != "" && x.takesTrailers() {
		x.addLine("Trailer: ", h.announced)
	}
}

// Trailers returns those that the client gets behind a body that has ended.
func (b *body) Trailers() field.List {
	switch {
	case !b.closes:
		return nil
	case b.along.rest != nil: // it was left behind by the flight that knows them
		return nil
	case b.along.r != nil:
		return b.along.r.Header().trailers
	}
	if d, ok := b.x.from.(fromOrigin); ok {
		return trailersOf(d.resp, b.x.route)
	}
	return nil
}
