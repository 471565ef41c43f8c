package proxy

import (
	"bytes"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/sliced"
	"edgeproxy/internal/route/cachekey"
)

// span is a part of a representation that an origin is asked for, and the key before
// Vary under which it is kept.
type span struct {
	name []byte
	key  cache.Key

	// slice says that the part has to be just this range, or what is left of it at the
	// end, and such that it can be joined with others. Otherwise any part will do.
	slice bool
	rfc9111.Range
}

// newSpan returns the span of the slice of this number, where slices have size bytes;
// with size 0, that of the one part that is kept of what base names.
func (p *Proxy) newSpan(base []byte, size, number int64) *span {
	s := &span{name: cachekey.AppendPart(bytes.Clone(base), size, number), slice: size > 0}
	s.key = p.Hasher.Sum(s.name)
	s.Range = sliced.Span(size, number)
	return s
}

// keepPart says why a 206 that answers s cannot be kept as a part, None if it can. What
// turns out to be all there is becomes the whole: its status is that of a 200 from here
// on (RFC 9110 section 15.3.7.3).
func (h *outcome) keepPart(s *span, resp *origin.Response) reason.Reason {
	part, ok := rfc9111.PartOf(resp.Header)
	if !ok || part.Length() != resp.ContentLength {
		return reason.Partial
	}
	if part.Whole() {
		h.status = 200
		h.fields = h.fields.Without(func(name string) bool { return name == "Content-Range" })
		return reason.None
	}
	if s.slice && !(sliced.Matches(s.Range, part) && joinable(resp)) {
		return reason.Partial
	}
	h.part = true
	return reason.None
}

// joinable reports whether others can be told to be parts of the same bytes.
func joinable(resp *origin.Response) bool {
	rep := rfc9111.RepresentationOf(resp.Status, resp.Header, resp.ResponseTime)
	return rfc9111.SameStrongly(rep, rep)
}
