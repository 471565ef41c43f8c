package proxy

import (
	"math/rand/v2"

	"edgeproxy/internal/ops/tracecontext"
)

// This file says which requests are traced, and by which names. What is told of them is in
// servespan.go and fetchspan.go. Without a Sampler all of this costs a look at one pointer.

// requestTrace is the span of a request that is traced.
type requestTrace struct {
	self   tracecontext.Context
	parent [8]byte  // the client's span; all zeros: the trace begins here
	text   [32]byte // room for the trace id in hexadecimal
}

// traced returns the span of x; nil: x is not traced. It decides that when it is first asked.
//
// A trusted proxy has decided by the flag of its traceparent. Anybody else could have every
// request traced that way, so theirs are drawn by lot, whatever they say: they only choose the
// trace that it belongs to. The limit holds for all.
func (x *exchange) traced() *requestTrace {
	s := x.settings.Sampler
	if s == nil || x.traceDecided {
		return x.trace
	}
	x.traceDecided = true
	var parent tracecontext.Context
	known := false
	if x.trusted != nil {
		parent, known = x.traceparent()
	}
	switch {
	case known && !parent.Sampled, !known && !s.Draw():
		return nil
	case !s.Take(x.start):
		x.p.Spans.OverLimit()
		return nil
	case !known:
		parent, known = x.traceparent()
	}
	t := &requestTrace{self: tracecontext.Context{Trace: parent.Trace, Span: newSpanID(), Sampled: true}, parent: parent.Span}
	if !known {
		t.self.Trace = newTraceID()
	}
	x.trace = t
	return t
}

// newSpanID and newTraceID return ids that nobody else has, and that are not all zeros.
func newSpanID() (id [8]byte) {
	putRandom(id[:])
	return id
}

func newTraceID() (id [16]byte) {
	putRandom(id[:8])
	putRandom(id[8:])
	return id
}

func putRandom(b []byte) {
	n := rand.Uint64() | 1 //nolint:gosec // an id is no secret
	for i := range b {
		b[i] = byte(n >> (8 * i)) //nolint:gosec // one byte of it
	}
}

// redacted returns a query without the values that are secrets of signed URLs, as the conventions
// of OpenTelemetry for url.query want it.
func redacted(query string) string {
	return mapPairs(query, func(name, value string) string {
		switch name {
		case "AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token":
			return "REDACTED"
		}
		return value
	})
}

// header names of W3C Trace Context, canonical.
const (
	headerTraceparent = "Traceparent"
	headerTracestate  = "Tracestate"
)
