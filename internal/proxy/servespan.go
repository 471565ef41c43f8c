package proxy

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/origin"
)

// mostAttributes is for how many attributes of a span there is room at once.
const mostAttributes = 24

// emitSpan sends the span of x, if it is traced. Names are those of OpenTelemetry's conventions
// for HTTP, and our own begin with edgeproxy.
func (p *Proxy) emitSpan(x *exchange, status int, duration time.Duration) {
	t := x.traced()
	if t == nil {
		return
	}
	s := spans.Span{
		Self: t.self, Parent: t.parent, Remote: true, Kind: spans.Server, Start: x.start, End: x.start.Add(duration),
		Attributes: make([]spans.Attribute, 0, mostAttributes), Failed: status >= 500 || x.broke != "",
	}
	if seen := x.req.Seen; seen != nil {
		s.Name, s.Attributes = methodOf(s.Attributes, string(seen.Method))
		s.Attributes = aboutSeen(s.Attributes, seen)
		if !seen.Began.IsZero() && seen.Began.Before(s.Start) {
			s.Start = seen.Began
		}
	} else {
		s.Name, s.Attributes = methodOf(s.Attributes, string(x.method))
		s.Attributes = x.aboutRequest(s.Attributes)
	}
	s.Attributes = x.aboutClient(s.Attributes)
	s.Attributes = x.aboutAnswer(s.Attributes, status)
	if x.collapsed {
		s.Link = fetchedBy(x.answeredBy())
	}
	p.Spans.Add(&s)
}

// aboutRequest says what x has asked for.
func (x *incoming) aboutRequest(a []spans.Attribute) []spans.Attribute {
	target, host := string(x.target.Raw), string(x.host)
	if x.target.Raw == nil { // refused before it was understood
		target, host = string(x.req.Target), string(x.req.Host)
	}
	a = append(aboutTarget(a, target), spans.Text("network.protocol.version", spokenWords[x.req.Version]))
	return addressOf(a, "server", host)
}

// aboutTarget says which path and query were asked for.
func aboutTarget(a []spans.Attribute, target string) []spans.Attribute {
	path, query, asks := strings.Cut(target, "?")
	a = append(a, spans.Text("url.path", path))
	if asks {
		a = append(a, spans.Text("url.query", redacted(query)))
	}
	return a
}

// aboutSeen says what has come of a request that the front could not read whole. What has not come has no attribute.
func aboutSeen(a []spans.Attribute, s *message.Seen) []spans.Attribute {
	if len(s.Method) > 0 && len(s.Target) > 0 { // else it is a line that is no request line
		a = aboutTarget(a, string(s.Target))
	}
	if _, version, ok := strings.Cut(s.Protocol, "/"); ok {
		a = append(a, spans.Text("network.protocol.version", version))
	}
	return addressOf(a, "server", string(s.Host))
}

// aboutClient appends the attributes of the client of x and of its connection.
func (x *incoming) aboutClient(a []spans.Attribute) []spans.Attribute {
	a = append(a, spans.Text("url.scheme", x.scheme))
	if peer := x.peerAddress(); peer.IsValid() {
		a = append(a, spans.Text("network.peer.address", peer.String()))
	}
	if client := x.ClientAddress(); client.IsValid() {
		a = append(a, spans.Text("client.address", client.String()))
	}
	if agent := x.userAgent(); agent != "" {
		a = append(a, spans.Text("user_agent.original", agent))
	}
	return a
}

// spokenWords are the versions as network.protocol.version has them.
var spokenWords = [...]string{message.HTTP10: "1.0", message.HTTP11: "1.1", message.HTTP2: "2"}

// aboutAnswer says what became of x.
func (x *exchange) aboutAnswer(a []spans.Attribute, status int) []spans.Attribute {
	if status > 0 {
		a = append(a, spans.Number("http.response.status_code", int64(status)))
	}
	switch {
	case x.broke != "": // this says more than the status, as in the span of a fetch
		a = append(a, spans.Text("error.type", x.broke))
	case status >= 500:
		a = append(a, spans.Text("error.type", strconv.Itoa(status)))
	}
	a = append(a, spans.Number("http.response.body.size", x.bytes), spans.Text("edgeproxy.result", x.result.String()))
	if x.route != nil {
		a = append(a, spans.Text("edgeproxy.route", x.route.Name))
	}
	if x.reason != reason.None {
		a = append(a, spans.Text("edgeproxy.reason", x.reason.String()))
	}
	if x.verdict.Sightings > 0 {
		a = append(a, spans.Number("edgeproxy.sightings", int64(x.verdict.Sightings)))
	}
	if x.fromStore() {
		a = append(a, spans.Number("edgeproxy.ttl", x.ttl))
	}
	if tier := x.tier(); tier != "" {
		a = append(a, spans.Text("edgeproxy.cache.tier", tier))
	}
	if x.collapsed {
		a = append(a, spans.True("edgeproxy.collapsed"))
	}
	return a
}

// brokeOff notes that the answer to x broke off with err, for its span: under the name that the span of the fetch has for it.
// What is not of a fetch goes by the reason.
func (x *told) brokeOff(err error) {
	if e, ok := errors.AsType[*origin.Error](err); ok {
		x.broke = e.Kind.String()
		return
	}
	x.broke = cmp.Or(x.reason, reason.Incomplete).String()
}

// tier returns where the stored response was that x is answered with; "" where that is not one.
func (x *exchange) tier() string {
	e := x.entry()
	switch {
	case e == nil || e != x.loaded:
		return ""
	case x.heldBack:
		return "stage"
	case e.FromDisk():
		return "disk"
	}
	return "memory"
}

// methodOf says which method a request has, and returns what its span is called by it: the
// conventions want few names, so a method that is not well known is none.
func methodOf(a []spans.Attribute, method string) (name string, out []spans.Attribute) {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY":
		return method, append(a, spans.Text("http.request.method", method))
	}
	a = append(a, spans.Text("http.request.method", "_OTHER"))
	if method == "" { // it has not come
		return "HTTP", a
	}
	return "HTTP", append(a, spans.Text("http.request.method_original", method))
}

// addressOf splits host, which may have a port, into what.address and what.port.
func addressOf(a []spans.Attribute, what, host string) []spans.Attribute {
	if host == "" {
		return a
	}
	if name, port, err := net.SplitHostPort(host); err == nil {
		host = name
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			a = append(a, spans.Number(what+".port", int64(n))) //nolint:gosec // at most 65535
		}
	} else if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		host = ip.String()
	}
	return append(a, spans.Text(what+".address", host))
}

// mapPairs returns a query in which value has another value for each pair of a name and a value.
func mapPairs(query string, value func(name, value string) string) string {
	if !strings.Contains(query, "=") {
		return query
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, v, ok := strings.Cut(pair, "="); ok {
			pairs[i] = name + "=" + value(name, v)
		}
	}
	return strings.Join(pairs, "&")
}
