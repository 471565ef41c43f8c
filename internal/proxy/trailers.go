package proxy

import (
	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
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

// trailersOf returns the trailers to pass on of resp, whose body was read to its end.
func trailersOf(resp *origin.Response) field.List {
	return rfc9111.Trailers(resp.Header, resp.Body.Trailers())
}

// takesTrailers reports whether the client of x takes trailers behind a body in chunks, and
// may have them.
func (p *Proxy) takesTrailers(x *exchange) bool {
	if x.collapsed {
		return false
	}
	return x.asksTrailers() || p.TakesTrailers != nil && p.TakesTrailers(x.ctx.Conn())
}

// announceTrailers appends the announcement of trailers to the head b of an answer cut
// like c, if they may come and the client takes them.
func (p *Proxy) announceTrailers(b []byte, x *exchange, c cut) []byte {
	if c.length >= 0 || x.head.announced == "" || !p.takesTrailers(x) {
		return b
	}
	b = append(b, "Trailer: "...)
	b = append(b, x.head.announced...)
	return append(b, '\r', '\n')
}

// trailers returns those that the client gets behind a body that has ended.
func (b *chunkedBody) trailers() field.List {
	switch {
	case !b.closes:
		return nil
	case b.along.rest != nil: // it was left behind by the flight that knows them
		return nil
	case b.x.reader != nil:
		return b.x.head.trailers
	}
	return trailersOf(b.x.response)
}

// addTrailers gives trailers to fasthttp, which writes them behind the last chunk. It is
// called while the body is written: names that the head has not announced are taken as
// they come, and fields of the head that are called the same stay there.
func addTrailers(h *fasthttp.ResponseHeader, trailers field.List) {
	for _, f := range trailers {
		if h.AddTrailer(f.Name) == nil { // else Add would take it for a field of the head
			h.Add(f.Name, f.Value)
		}
	}
}
