package proxy

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
	"edgeproxy/internal/spans"
	"edgeproxy/internal/tracecontext"
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
	var why string
	if s.Failed, why = failedAs(t); why != "" {
		s.Attributes = append(s.Attributes, spans.Text("error.type", why))
	}
	f.to.Add(&s)
	f.part("queue", f.self.Span, t.QueueBegun, t.QueueEnd)
	f.part("connect", f.self.Span, t.ConnectBegun, t.Connected)
	if t.FirstByte.IsZero() { // what the fetch waited for until it failed, or was given up
		f.part("first_byte", f.self.Span, t.Sent, t.End)
		return
	}
	f.part("first_byte", f.self.Span, t.Sent, t.FirstByte)
	f.part("body", f.self.Span, t.FirstByte, t.End)
}

// part sends a part of the span above, if it was.
func (f *fetchTrace) part(name string, above [8]byte, from, to time.Time) {
	if from.IsZero() || to.IsZero() {
		return
	}
	self := f.self
	self.Span = newSpanID()
	f.to.Add(&spans.Span{Self: self, Parent: above, Kind: spans.Internal, Name: name, Start: from, End: to})
}

// stored tells of the time from the end of the body to when the cache has it, and returns why, which is why it
// was not stored. The fetch is over by then, so that is a part of the request.
func (f *fetchTrace) stored(why reason.Reason) reason.Reason {
	if f != nil && why == reason.None {
		f.part("store", f.parent, f.End, now())
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
		a = append(a, spans.Number("http.response.status_code", int64(t.Status)), spans.Text("network.protocol.version", "1.1"))
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
