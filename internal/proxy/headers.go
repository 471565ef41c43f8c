package proxy

import (
	"encoding/hex"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/forwarded"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/tracecontext"
	"edgeproxy/internal/origin"
)

// This file and lines.go alone read the fields of a request, whose bytes are the front's and
// live until the answer is closed, and copy what must live longer.

// readFields finds what the fields of the request ask of a cache. It allocates nothing.
//
// It goes through them once, for this runs on every hit, and asking for field after field
// takes twice as long.
func (x *exchange) readFields() {
	r, a := x.req, &x.asks
	a.get, a.head, a.body = string(r.Method) == "GET", string(r.Method) == "HEAD", r.Body != nil
	x.closing = x.closing || r.Last
	x.fields = r.Lines
	for i := range x.fields {
		x.noteField(x.fields[i].Name)
	}
	if x.seen.connection || x.seen.cacheControl {
		x.readControls()
	}
}

// readControls reads what Connection and Cache-Control say.
func (x *incoming) readControls() {
	for i := range x.fields {
		switch f := &x.fields[i]; {
		case sameName(f.Name, "Cache-Control"):
			x.request.Add(f.Value)
		case sameName(f.Name, "Connection"):
			for range rfc9111.ConnectionOptions(f.Value) {
				x.asks.connectionNames = true
			}
		}
	}
}

// longestNoted is the length of the longest name that note looks for.
const longestNoted = len("available-dictionary")

// initials are the first letters of the names of each length that note looks for, as bits from a on.
// Nearly all names of a request are told from these by them alone.
var initials = func() (out [longestNoted + 1]uint32) {
	for _, name := range []string{
		"authorization", "cache-control", "cookie", "if-match", "if-unmodified-since", "if-modified-since", "if-none-match", "range", "upgrade",
		"connection", "expect", "cdn-loop", "via", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "available-dictionary",
	} {
		out[len(name)] |= 1 << (name[0] - 'a')
	}
	return out
}()

// mayBeNoted reports whether a name that note looks for is as long as this one, and begins like it.
func mayBeNoted(name []byte) bool {
	n := len(name)
	return n > 0 && n <= longestNoted && initials[n]>>(name[0]&0x1f-1)&1 != 0
}

// noteField notes that the request has the field called name, empty or not.
func (x *incoming) noteField(name []byte) {
	if !mayBeNoted(name) {
		return
	}
	var room [longestNoted]byte
	for i, c := range name {
		room[i] = c | 0x20 // in a name, nothing else becomes a lower-case letter or a hyphen
	}
	switch string(room[:len(name)]) {
	case "authorization":
		x.asks.authorization = true
	case "cache-control":
		x.seen.cacheControl = true
	case "cookie":
		x.asks.cookie = true
	case "if-match", "if-unmodified-since":
		x.asks.precondition = true
	case "if-modified-since", "if-none-match":
		x.asks.conditional = true
	case "range":
		x.asks.ranged = true
	case "upgrade":
		x.asks.upgrade = true
	default:
		x.seen.note(room[:len(name)])
	}
}

// note notes the fields that are about the way of the request, and Available-Dictionary; name is in lower case.
func (s *seen) note(name []byte) {
	switch string(name) {
	case "connection":
		s.connection = true
	case "expect":
		s.expect = true
	case "cdn-loop":
		s.loop = true
	case "via":
		s.via = true
	case "forwarded":
		s.forwarded = true
	case "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto":
		s.xForwarded = true
	case "available-dictionary":
		s.dictionary = true
	}
}

// describeFields takes what the log has of the request's fields. A field that comes twice has its
// first value, and a traceparent that does belongs to no trace.
func (x *exchange) describeFields(line *accesslog.Line) {
	parents := 0
	for i := range x.fields {
		f := &x.fields[i]
		to := loggedAs(line, f.Name)
		if to == nil {
			continue
		}
		if to == &line.TraceID {
			parents++
		}
		if *to == nil {
			*to = f.Value
		}
	}
	if line.TraceID = tracecontext.TraceID(line.TraceID); parents > 1 {
		line.TraceID = nil
	}
	if t := x.trace; t != nil && line.TraceID == nil { // one that begins here
		line.TraceID = hex.AppendEncode(t.text[:0], t.self.Trace[:])
	}
}

// traceparent returns the span that the client names, and whether it names one: a request with two
// traceparents, or an invalid one, belongs to no trace.
func (x *incoming) traceparent() (parent tracecontext.Context, ok bool) {
	if lines := x.fieldLines(headerTraceparent); len(lines) == 1 {
		return tracecontext.Parse(lines[0])
	}
	return tracecontext.Context{}, false
}

// copiedFields returns a copy of all fields as they came.
func (x *incoming) copiedFields() (out field.List) {
	for i := range x.fields {
		out.Add(field.Canonical(string(x.fields[i].Name)), strings.Trim(string(x.fields[i].Value), " \t"))
	}
	return out
}

// userAgent returns the first User-Agent of the request.
func (x *incoming) userAgent() string {
	if lines := x.fieldLines("User-Agent"); len(lines) > 0 {
		return string(lines[0])
	}
	return ""
}

// loggedAs returns where line has the field of this name; nil: nowhere.
func loggedAs(line *accesslog.Line, name []byte) *[]byte {
	switch {
	case sameName(name, "Referer"):
		return &line.Referer
	case sameName(name, "User-Agent"):
		return &line.UserAgent
	case sameName(name, "Traceparent"):
		return &line.TraceID
	case sameName(name, headerRequestID):
		return &line.RequestID
	}
	return nil
}

// protocols returns the ones that x's origin may be asked to switch to, as the client
// listed them; "" where there are none. A request may always go on without: one of
// HTTP/1.0 has to (RFC 9110 section 7.8), and one with a body, with two lists, or with
// a protocol that carries HTTP goes, because it would be read in two ways.
func (x *incoming) protocols() string {
	if !x.asks.upgrade || !x.asks.connectionNames || x.asks.body || x.req.Version != message.HTTP11 || !x.namedByConnection("Upgrade") {
		return ""
	}
	lines := x.fieldLines("Upgrade")
	if len(lines) != 1 {
		return ""
	}
	value := string(lines[0])
	if list, ok := field.Protocols(value); !ok || slices.ContainsFunc(list, carriesHTTP) {
		return ""
	}
	return value
}

// asksTrailers reports whether the client says that it takes trailers. It need not name
// TE in Connection (RFC 9110 section 10.1.4), which clients forget: a trailer section is
// part of every chunked body, and to have one sent is no more than that.
func (x *incoming) asksTrailers() bool {
	return x.req.Version >= message.HTTP11 && slices.ContainsFunc(x.fieldLines("Te"), rfc9111.TakesTrailers[[]byte])
}

// ownTrailers has r, whose body has no known length, followed by the trailers to forward, and
// announces those that the client has announced.
func (p *Proxy) ownTrailers(x *exchange, r *origin.Request) {
	u, named := x.upload, x.connectionNames()
	drop := func(name string) bool {
		return named[name] || x.notForwarded(name) || forwarded.Overrides(field.Hyphenated(name))
	}
	var names []string
	for _, name := range u.src.Announced() {
		if name = field.Canonical(name); rfc9111.InTrailers(name) && !drop(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		r.Header.Add("Trailer", strings.Join(names, ", "))
	}
	most := x.settings.HeaderCount
	u.section = func() (field.List, error) {
		list, err := u.src.Trailers()
		switch {
		case err != nil:
			return nil, errTrailer
		case len(list) > most:
			return nil, errManyTrailers
		}
		return rfc9111.Trailers(nil, list).Without(drop), nil
	}
	r.Trailers = func() field.List { return u.trailers }
}

func dropNone(string) bool { return false }
