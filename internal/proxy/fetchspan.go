package proxy

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/ops/tracecontext"
	"edgeproxy/internal/origin"
)

// fetchTrace is the span of a request to an origin that is made for a request that is traced. It
// is sent when the response is over, which may be after that request. A nil fetchTrace is of a
// fetch that is not traced.
type fetchTrace struct {
	origin.Trace
	to            *spans.Exporter
	self          tracecontext.Context
	parent        [8]byte // the span of the request that it is for
	begins        bool    // so does the trace: what came of another one stays here
	told          bool    // the origin hears of the span
	origin, route string
}

// traceFetch has r, which is made for x, traced if x is. The span is what the origin hears of as
// its parent, unless a rule of the route, or Connection, says otherwise of traceparent.
func (p *Proxy) traceFetch(x *exchange, r *origin.Request) *fetchTrace {
	t := x.traced()
	if t == nil {
		return nil
	}
	f := &fetchTrace{
		to: p.Spans, parent: t.self.Span, self: t.self, begins: t.parent == [8]byte{},
		told:  !x.route.Key.Reads(headerTraceparent) && !x.notForwarded(headerTraceparent) && !(x.asks.connectionNames && x.namedByConnection(headerTraceparent)),
		route: x.route.Name, origin: x.route.Origin.Name(),
	}
	f.mark(r)
	return f
}

// again is traceFetch for one more request like that of f.
func (f *fetchTrace) again(r *origin.Request) *fetchTrace {
	if f == nil {
		return nil
	}
	next := *f
	next.Trace = origin.Trace{}
	next.mark(r)
	return &next
}

// mark gives f an id of its own, and has r tell the origin of it.
func (f *fetchTrace) mark(r *origin.Request) {
	f.self.Span = newSpanID()
	f.Owner, r.Trace = f, &f.Trace
	if !f.told {
		return
	}
	r.Header = r.Header.Without(func(name string) bool {
		return name == headerTraceparent || f.begins && name == headerTracestate
	})
	r.Header.Add(headerTraceparent, string(f.self.Append(nil)))
}

// fetchedBy returns the span of the fetch that has brought resp; none where it is not traced.
func fetchedBy(resp *origin.Response) tracecontext.Context {
	if resp == nil {
		return tracecontext.Context{}
	}
	if t := resp.Body.Trace(); t != nil {
		if f, ok := t.Owner.(*fetchTrace); ok {
			return f.self
		}
	}
	return tracecontext.Context{}
}

// Ended implements the owner of an origin.Trace: it sends the span, and its parts.
func (f *fetchTrace) Ended(t *origin.Trace) {
	s := spans.Span{
		Self: f.self, Parent: f.parent, Kind: spans.Client, Start: t.Begun, End: t.End,
		Attributes: make([]spans.Attribute, 0, mostAttributes),
	}
	s.Name, s.Attributes = methodOf(s.Attributes, t.Method)
	s.Attributes = f.about(s.Attributes, t)
	var as string
	if s.Failed, as = failedAs(t); as != "" {
		s.Attributes = append(s.Attributes, spans.Text("error.type", as))
	}
	in := ""
	if s.Failed && t.Err != nil { // a status of the origin says enough, and no part has failed
		s.Why, in = t.Err.Error(), endedIn(t)
	}
	f.to.Add(&s)
	answered := t.FirstByte
	if answered.IsZero() { // what the fetch waited for until it failed, or was given up
		answered = t.End
	}
	for _, p := range []struct {
		name     string
		from, to time.Time
	}{
		{partQueue, t.QueueBegun, t.QueueEnd}, {partConnect, t.ConnectBegun, t.Connected}, {partFirstByte, t.Sent, answered}, {partBody, t.FirstByte, t.End},
	} {
		part := spans.Span{Name: p.name, Start: p.from, End: p.to}
		if p.name == in {
			part.Failed, part.Why, part.Attributes = true, s.Why, []spans.Attribute{spans.Text("error.type", as)}
		}
		f.part(f.self.Span, &part)
	}
}

// The parts of a fetch.
const (
	partQueue     = "queue"
	partConnect   = "connect"
	partFirstByte = "first_byte"
	partBody      = "body"
)

// endedIn returns the part that a fetch was in when it failed; "": none, it failed before it left.
func endedIn(t *origin.Trace) string {
	switch {
	case !t.FirstByte.IsZero():
		return partBody
	case !t.Sent.IsZero():
		return partFirstByte
	case !t.QueueBegun.Before(t.ConnectBegun) && !t.QueueBegun.IsZero(): // in the queue of another server, after one that could not be connected to
		return partQueue
	case !t.ConnectBegun.IsZero():
		return partConnect
	}
	return ""
}

// part sends s, a part of the span above, if it was.
func (f *fetchTrace) part(above [8]byte, s *spans.Span) {
	if s.Start.IsZero() || s.End.IsZero() {
		return
	}
	s.Self, s.Parent, s.Kind = f.self, above, spans.Internal
	s.Self.Span = newSpanID()
	f.to.Add(s)
}

// stored tells of the time from the end of the body to when the cache has it, and returns why, which is why it
// was not stored. The fetch is over by then, so that is a part of the request.
func (f *fetchTrace) stored(why reason.Reason) reason.Reason {
	if f != nil && why == reason.None {
		f.part(f.parent, &spans.Span{Name: "store", Start: f.End, End: now()})
	}
	return why
}

// about says what was asked of which server, and what it answered.
func (f *fetchTrace) about(a []spans.Attribute, t *origin.Trace) []spans.Attribute {
	scheme := schemePlain
	if t.Secure {
		scheme = schemeSecure
	}
	target := t.Target
	if path, query, ok := strings.Cut(target, "?"); ok {
		target = path + "?" + redacted(query)
	}
	a = append(a, spans.Text("url.full", scheme+"://"+t.Host+target), spans.Text("edgeproxy.origin", f.origin), spans.Text("edgeproxy.route", f.route))
	a = addressOf(a, "server", t.Host)
	if host, port, err := net.SplitHostPort(t.Server); err == nil {
		a = append(a, spans.Text("network.peer.address", host))
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			a = append(a, spans.Number("network.peer.port", int64(n))) //nolint:gosec // at most 65535
		}
	} else if t.Server != "" {
		a = append(a, spans.Text("network.peer.address", t.Server))
	}
	if t.Status > 0 {
		spoken := message.HTTP11
		if t.HTTP2 {
			spoken = message.HTTP2
		}
		a = append(a, spans.Number("http.response.status_code", int64(t.Status)), spans.Text("network.protocol.version", spokenWords[spoken]))
	}
	if t.Tries > 1 {
		a = append(a, spans.Number("http.request.resend_count", int64(t.Tries-1)))
	}
	return a
}

// failedAs says whether a fetch has failed, and as what. One that nobody wanted any more has not.
func failedAs(t *origin.Trace) (failed bool, as string) {
	if e, ok := errors.AsType[*origin.Error](t.Err); ok {
		return e.Kind != origin.Canceled, e.Kind.String()
	}
	if t.Status >= 400 {
		return true, strconv.Itoa(t.Status)
	}
	return false, ""
}
