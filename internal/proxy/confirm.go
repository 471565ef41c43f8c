package proxy

import (
	"slices"

	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/reason"
)

// This file asks the origin twice before an error takes the place of an answer. A field that is in no key may bring about an error
// that other clients would not get. A client that sends the field each time that the answer expires could have all others get the error.

// ownAgent is the User-Agent of what the proxy asks in its own words: some origins refuse requests without one.
const ownAgent = "edgeproxy"

// isDoubtful reports whether the response is an error that would be kept or shared, though the URL had an answer that was none.
func (f *fill) isDoubtful() bool {
	h := f.head
	return f.wellBefore && f.flight != nil && f.span == nil && h.held == nil && h.storable() && h.status >= leastError
}

// confirm asks the origin once more, in the proxy's own words: without the fields of the client that select nothing. What comes is
// the answer for all, if it may be stored or is no error. Otherwise the first response is for its client alone. A request that
// has no such field is not sent again.
func (f *fill) confirm() {
	first, doubted := f.resp, f.head
	if !f.inOwnWords(doubted.entry.Vary) {
		return
	}
	defer func() { // also after a panic
		if f.resp != first {
			_ = first.Body.Close()
		}
	}()
	f.route.metrics.fills.storable.Add(-1) // whatever comes is counted in its place
	f.resp, f.head, f.memory.fields = nil, nil, nil
	if err := f.ask(); err != nil {
		f.logFailure(err)
	} else {
		f.judgeConfirming()
	}
	if f.head != nil {
		return
	}
	f.dropResponse()
	doubted.why, doubted.entry = reason.Unconfirmed, nil
	f.resp, f.head = first, doubted
}

// judgeConfirming makes the response the answer, unless it says nothing of what others would get.
func (f *fill) judgeConfirming() {
	if f.stale != nil && f.resp.Status == statusNotModified {
		f.head = f.p.renewBy304(&f.job, f.resp, f.flight.Purged)
		f.dropResponse()
		return
	}
	h := f.p.judge(&f.job, f.resp)
	if h.status >= leastError && !h.fillable() {
		return
	}
	f.head = h
	f.p.markHitForMiss(&f.job, h, f.resp)
	f.p.removeSuperseded(&f.job, h)
}

// inOwnWords takes out of the request what its client has said and nothing selects by: the key, the route, what is stored, or the
// response, by the names of its Vary. It reports whether there was anything.
func (f *fill) inOwnWords(vary []string) bool {
	drop := func(name string) bool { return !f.speaksForAll(name, vary) }
	header := f.request.Header.Without(drop)
	if len(header) == len(f.request.Header) {
		return false
	}
	if f.asker != nil {
		f.outlive(f.asker, drop)
	} else {
		f.selecting = f.selecting.Without(drop)
	}
	f.facts.Authorization = f.facts.Authorization && header.Has("Authorization")
	f.facts.Cookie = f.facts.Cookie && header.Has("Cookie")
	if !header.Has("User-Agent") {
		header.Add("User-Agent", ownAgent)
	}
	f.request.Header, f.request.Interim = header, nil
	f.trace = f.trace.again(f.request)
	return true
}

// speaksForAll reports whether a request for all clients has the field of this canonical name: the proxy or a rule has written it,
// or a response is selected by it. What a trusted proxy says of the URL belongs to the URL.
func (f *fill) speaksForAll(name string, vary []string) bool {
	switch name {
	case acceptEncoding, "If-None-Match", "If-Modified-Since", headerTraceparent:
		return true
	}
	r := f.route
	return isWrittenByUs(name) || forwarded.Overrides(name) || r.Request.Value(name) != nil || r.Key.Reads(name) || r.GoesBy(name) ||
		slices.Contains(f.selects, name) || slices.Contains(vary, name)
}
