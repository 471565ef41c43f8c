package proxy

import (
	"net/netip"
	"slices"
	"sync/atomic"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/compress"
)

// This file compresses, once, what an origin has sent without a coding. It does so before anything else looks at the response:
// judge, variants, conditions, ranges and tiers know one that the origin could have sent.

const acceptEncoding = "Accept-Encoding"

// compressed has resp, which answers request, be what the origin would have sent had it compressed, where the rules of the
// route say so. A body that came with its head is encoded at once, and has a length.
func (r *route) compressed(request *origin.Request, resp *origin.Response) {
	switch {
	case !r.Compress.On() || resp.Upgraded != nil:
		return
	case resp.Status == statusNotModified:
		resp.Header = compress.Confirmed(request.Header, resp.Header)
		return
	}
	head, length := request.Method == "HEAD", resp.ContentLength
	if head {
		length = declaredLength(resp.Header)
	}
	coding, varies := r.Compress.Choose(request.Header, resp.Status, resp.Header, length)
	switch {
	case !varies:
		return
	case coding == compress.None:
		resp.Header = compress.Varying(resp.Header)
		return
	}
	if !head && !r.encode(request, resp, coding) {
		resp.Header = compress.Varying(resp.Header)
		return
	}
	resp.TagWeakened = compress.Weakens(resp.Header)
	resp.Header = compress.Encoded(resp.Header, coding)
}

// encode has the body of resp go through an encoder. It reports false where too many others do, or too many of the same
// client.
func (r *route) encode(request *origin.Request, resp *origin.Response, coding compress.Coding) bool {
	body := r.encoder(request.Client, resp, coding)
	if body == nil {
		r.metrics.compressed[compress.None].Responses.Add(1)
		return false
	}
	here := resp.Here
	resp.Body.Through(body)
	resp.ContentLength, resp.Here = -1, false
	if here {
		if size, ok := body.Finish(); ok {
			resp.ContentLength, resp.Here = size, true
		}
		body.leave()
	}
	return true
}

// encoding is a body in its coding, which holds one of the encoders for its client until it is over.
type encoding struct {
	*compress.Reader
	encoders *clientSlots
	who      netip.Prefix
	left     atomic.Bool
}

// encoder returns the body of resp in a coding. It returns nil where no encoder is free, or where few are and the client
// has its share of them.
func (r *route) encoder(who netip.Prefix, resp *origin.Response, coding compress.Coding) *encoding {
	if !r.encoders.acquire(who, compress.Open(), compress.MostOpen) {
		return nil
	}
	body := compress.NewReader(resp.Body.Raw(), coding, r.Compress.Level, &r.metrics.compressed[coding])
	if body == nil {
		r.encoders.release(who)
		return nil
	}
	return &encoding{Reader: body, encoders: r.encoders, who: who}
}

// Read is that of the Reader.
func (e *encoding) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		e.leave()
	}
	return n, err
}

// Close is that of the Reader.
func (e *encoding) Close() error {
	defer e.leave()
	return e.Reader.Close()
}

// leave gives back what the client holds. It may be called again.
func (e *encoding) leave() {
	if !e.left.Swap(true) {
		e.encoders.release(e.who)
	}
}

// confirming returns the header of a 304 as far as it is about the stored response e, of size bytes; false where e was stored
// before the route compressed, so that it has to be fetched anew.
func (r *route) confirming(request *origin.Request, e *cache.Entry, size int64, header field.List) (field.List, bool) {
	if e.Policy.TagWeakened {
		header = compress.OfEncoded(header)
	}
	switch {
	case !r.Compress.On():
		return header, true
	case slices.Contains(e.Vary, acceptEncoding):
		return compress.SameVary(header), true
	}
	_, varies := r.Compress.Choose(request.Header, int(e.Status), e.Header, size)
	return header, !varies
}

// codings returns the lines of Accept-Encoding as they are forwarded. On a route that compresses, a request with no-transform
// asks for no coding: so it has a variant of its own, and what others get is not what it was given.
func (x *routed) codings(lines [][]byte) []byte {
	folded := rfc9111.Codings(lines)
	if x.seen.dictionary && x.namesDictionary() {
		folded = rfc9111.DictionaryCodings(lines)
	}
	if x.request.NoTransform && x.route.Compress.On() {
		return rfc9111.WithoutCodings(folded)
	}
	return folded
}

// trailersOf returns the trailers to pass on of resp, a response of route r whose body was read to its end: those that are about the bytes
// that the client gets.
func trailersOf(resp *origin.Response, r *route) field.List {
	trailers := rfc9111.Trailers(resp.Header, resp.Body.Trailers())
	if len(trailers) > 0 {
		trailers = trailers.Without(r.isTagField)
	}
	if resp.Body.IsThrough() {
		trailers = trailers.Without(compress.Describes)
	}
	return trailers
}
