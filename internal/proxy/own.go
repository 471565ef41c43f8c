package proxy

import (
	"bytes"
	"slices"
	"strings"

	"edgeproxy/internal/field"
	"edgeproxy/internal/forwarded"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
)

// This file and lines.go alone read fasthttp's request, whose bytes live until the
// handler returns, and copy what must live longer.

// readHeader checks the framing of the header and finds what its fields ask of a
// cache. It returns how many field lines there are. It allocates nothing.
//
// It goes through the header as it came, once, for this runs on every hit and
// asking fasthttp for field after field takes twice as long.
func (x *exchange) readHeader() (fields int, err error) {
	h := &x.ctx.Request.Header
	w := wire.Walk(h.RawHeaders())
	for name, value := range w.Lines {
		x.fields = append(x.fields, line{name, value})
		x.note(name)
	}
	if err := w.Err(); err != nil {
		return w.Count(), err
	}
	a := &x.asks
	a.get, a.head = h.IsGet(), h.IsHead()
	a.body = h.ContentLength() > 0 || h.ContentLength() == -1
	x.closing = x.closing || a.body && lastOfConnection(&w)
	if x.seen.connection || x.seen.cacheControl {
		x.readControls()
	}
	return w.Count(), nil
}

// readControls reads what Connection and Cache-Control say. fasthttp keeps one line of
// Connection alone.
func (x *exchange) readControls() {
	for i := range x.fields {
		switch f := &x.fields[i]; {
		case sameName(f.name, "Cache-Control"):
			x.request.Add(f.value)
		case sameName(f.name, "Connection"):
			for range rfc9111.ConnectionOptions(f.value) {
				x.asks.connectionNames = true
			}
		}
	}
}

// lastOfConnection reports whether fasthttp may read the end of a request's body, or
// of its line, where another parser reads on, without a trace of it in what it shows
// us: in both it takes a bare LF. What comes behind is then no request, and the
// connection ends with the answer. The proofs are TestChunkedRequestIsTheLast and
// TestLFInTheRequestLine.
func lastOfConnection(w *wire.Walker) bool { return w.Chunked() || w.FramedFirst() }

// longestNoted is the length of the longest name that note looks for.
const longestNoted = len("if-unmodified-since")

// note notes that the request has the field called name, empty or not.
func (x *exchange) note(name []byte) {
	var room [longestNoted]byte
	if len(name) > len(room) {
		return
	}
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

// note notes the fields that are about the way of the request; name is in lower case.
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
	}
}

// protocols returns the ones that x's origin may be asked to switch to, as the client
// listed them; "" where there are none. A request may always go on without: one of
// HTTP/1.0 has to (RFC 9110 section 7.8), and one with a body, with two lists, or with
// a protocol that carries HTTP goes, because it would be read in two ways.
func (x *exchange) protocols() string {
	h := &x.ctx.Request.Header
	if !x.asks.upgrade || !x.asks.connectionNames || x.asks.body || !h.IsHTTP11() || !x.namedByConnection("Upgrade") {
		return ""
	}
	lines := x.all("Upgrade")
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
func (x *exchange) asksTrailers() bool {
	h := &x.ctx.Request.Header
	return h.IsHTTP11() && slices.ContainsFunc(x.all("Te"), rfc9111.TakesTrailers[[]byte])
}

// ownTrailers has r, whose body comes in chunks, followed by the trailers to forward, and
// announces those that the client has announced.
func (p *Proxy) ownTrailers(x *exchange, r *origin.Request) {
	u, h, named := x.upload, &x.ctx.Request.Header, x.ownNames()
	drop := func(name string) bool {
		return named[name] || x.withheld(name) || forwarded.Overrides(field.Hyphenated(name))
	}
	var names []string
	for _, key := range h.PeekTrailerKeys() { // the announced ones, for the body was not read
		if name := field.Canonical(string(key)); rfc9111.InTrailers(name) && !drop(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		r.Header.Add("Trailer", strings.Join(names, ", "))
	}
	most := x.settings.HeaderCount
	u.section = func() (field.List, error) {
		list, err := copyTrailers(h.TrailerHeader(), most)
		return rfc9111.Trailers(nil, list).Without(drop), err
	}
	r.Trailers = func() field.List { return u.trailers }
}

// copyTrailers copies the fields of a trailer section as fasthttp tells it: lines joined
// and ends of lines put right, and no more of one that was cut off than of none. So what
// a name or a value may hold is looked at here.
func copyTrailers(section []byte, most int) (list field.List, err error) {
	for len(section) > 0 {
		var line []byte
		line, section, _ = bytes.Cut(section, []byte("\r\n"))
		k, v, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok: // the empty line at the end
			return list, nil
		case len(list) == most:
			return nil, errManyTrailers
		case !field.ValidName(k) || !field.ValidValue(v):
			return nil, errTrailer
		}
		list.Add(field.Canonical(string(k)), string(bytes.Trim(v, " \t")))
	}
	return list, nil
}

// framing names what is ours to say to the origin.
func framing(name string) bool {
	switch field.Hyphenated(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Expect", "Via", headerCDNLoop:
		return true
	}
	return false
}

// ours names the fields that say of a request what we say ourselves.
func ours(name string) bool {
	switch field.Hyphenated(name) {
	case "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
		return true
	}
	return false
}

// generated names the request fields that origins get from us, not from the
// client. A response that varies on one cannot be selected by a later request.
func generated(name string) bool { return ours(name) || framing(name) }

// forKeeps drops what may not reach the origin when the response may be stored
// or shared: Range and conditions are evaluated on the result.
func forKeeps(name string) bool {
	switch name {
	case "Range", "If-Range", "If-None-Match", "If-Modified-Since":
		return true
	}
	return false
}

// precondition names the conditions that only the origin may evaluate.
func precondition(name string) bool { return name == "If-Match" || name == "If-Unmodified-Since" }

func nothing(string) bool { return false }
