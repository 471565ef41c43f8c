package proxy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/field"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
)

// This file alone reads fasthttp's request, whose bytes live until the handler
// returns, and copies what must live longer.

// readHeader checks the framing of the header and finds what its fields ask of a
// cache. It returns how many field lines there are. It allocates nothing.
//
// It goes through the header as it came, once, for this runs on every hit and
// asking fasthttp for field after field takes twice as long.
func (x *exchange) readHeader() (fields int, err error) {
	h := &x.ctx.Request.Header
	w := wire.Walk(h.RawHeaders())
	for name := range w.Names {
		x.note(name)
	}
	if err := w.Err(); err != nil {
		return w.Count(), err
	}
	a := &x.asks
	a.get, a.head = h.IsGet(), h.IsHead()
	a.body = h.ContentLength() > 0 || h.ContentLength() == -1
	x.closing = x.closing || a.body && lastOfConnection(&w)
	if x.seen.connection {
		for _, line := range h.PeekAll(fasthttp.HeaderConnection) {
			for range rfc9111.ConnectionOptions(line) {
				a.connectionNames = true
			}
		}
	}
	if x.seen.cacheControl {
		for _, line := range h.PeekAll(fasthttp.HeaderCacheControl) {
			x.request.Add(line)
		}
	}
	return w.Count(), nil
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

// lines returns the lines of a field as they are forwarded: none if Connection
// names it. They are valid until the next call.
func (x *exchange) lines(name string) [][]byte {
	if rfc9111.HopByHop(name) || x.asks.connectionNames && x.namedByConnection(name) {
		return nil
	}
	return x.ctx.Request.Header.PeekAll(name)
}

func (x *exchange) namedByConnection(name string) bool {
	for _, line := range x.ctx.Request.Header.PeekAll(fasthttp.HeaderConnection) {
		for option := range rfc9111.ConnectionOptions(line) {
			if strings.EqualFold(string(option), name) {
				return true
			}
		}
	}
	return false
}

// rawLines returns the lines of a field byte for byte, as they are forwarded: fasthttp
// would give cookies as it understands them. None if Connection names the field.
// They are valid until the next call. It allocates nothing once there is room.
func (x *exchange) rawLines(name string) [][]byte {
	x.raw = x.raw[:0]
	if x.asks.connectionNames && x.namedByConnection(name) {
		return nil
	}
	for rest := x.ctx.Request.Header.RawHeaders(); len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		k, v, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			break // the empty line at the end
		}
		if sameName(k, name) {
			x.raw = append(x.raw, v)
		}
	}
	return x.raw
}

// sameName reports whether a field is called name, in whatever case.
func sameName(k []byte, name string) bool {
	if len(k) != len(name) {
		return false
	}
	for i, c := range k {
		if lower(c) != lower(name[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// protocols returns the ones that x's origin may be asked to switch to, as the client
// listed them; "" where there are none. A request may always go on without: one of
// HTTP/1.0 has to (RFC 9110 section 7.8), and one with a body, with two lists, or with
// a protocol that carries HTTP goes, because it would be read in two ways.
func (x *exchange) protocols() string {
	h := &x.ctx.Request.Header
	if !x.asks.upgrade || !x.asks.connectionNames || x.asks.body || !h.IsHTTP11() || !x.namedByConnection(fasthttp.HeaderUpgrade) {
		return ""
	}
	lines := h.PeekAll(fasthttp.HeaderUpgrade)
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
	return h.IsHTTP11() && slices.ContainsFunc(h.PeekAll(fasthttp.HeaderTE), rfc9111.TakesTrailers[[]byte])
}

// ownTrailers has r, whose body comes in chunks, followed by the trailers to forward, and
// announces those that the client has announced.
func (p *Proxy) ownTrailers(x *exchange, r *origin.Request) {
	u, h, named := x.upload, &x.ctx.Request.Header, x.ownNames()
	drop := func(name string) bool {
		return named[name] || framing(name) || untrusted(name) || x.route.Key.Imitates(name)
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
	u.section = func() (field.List, error) {
		list, err := copyTrailers(h.TrailerHeader(), p.HeaderCount)
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

// appendVariant appends to the URL key in dst what the fields called names add.
func (x *exchange) appendVariant(dst []byte, names []string) []byte {
	for _, name := range names {
		dst = x.route.Variants.AppendField(dst, name, x.lines(name))
	}
	return dst
}

// ownNames returns the names of the fields that Connection makes hop-by-hop,
// canonical, so that they outlive the look at the header.
func (x *exchange) ownNames() map[string]bool {
	if !x.asks.connectionNames {
		return nil
	}
	named := map[string]bool{}
	for _, line := range x.ctx.Request.Header.PeekAll(fasthttp.HeaderConnection) {
		for option := range rfc9111.ConnectionOptions(line) {
			named[field.Canonical(string(option))] = true
		}
	}
	return named
}

// ownFields copies the fields to forward, in order: without hop-by-hop fields,
// without what is not keyed and trusted, without Host and framing, which the
// origin room writes, and without what drop names.
func (x *exchange) ownFields(drop func(name string) bool) field.List {
	named := x.ownNames()
	list := make(field.List, 0, 16)
	// The lines as they came: fasthttp would parse the cookies and write them anew,
	// without those it does not understand.
	for rest := x.ctx.Request.Header.RawHeaders(); len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		k, v, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			break // the empty line at the end
		}
		name := field.Canonical(string(k))
		switch {
		case rfc9111.HopByHop(hyphened(name)), named[name], framing(name), untrusted(name), drop(name):
		default:
			list.Add(name, string(bytes.Trim(v, " \t")))
		}
	}
	return list
}

// framing names what is ours to say to the origin.
func framing(name string) bool {
	switch hyphened(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Expect", "Via", headerCDNLoop:
		return true
	}
	return false
}

// hyphened returns the canonical name that some servers read where underscores are.
func hyphened(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	return field.Canonical(strings.ReplaceAll(name, "_", "-"))
}

// untrusted names the fields that origins commonly trust without their being in
// the key: forwarded, they would let one client choose what others are served.
// Spellings with an underscore count too.
func untrusted(name string) bool {
	name = hyphened(name)
	if strings.HasPrefix(name, "X-Forwarded-") {
		return true
	}
	switch name {
	case "Forwarded", "X-Forwarded", "X-Real-Ip", "X-Host", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url",
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override":
		return true
	}
	return false
}

// generated names the request fields that origins get from us, not from the
// client. A response that varies on one cannot be selected by a later request.
func generated(name string) bool { return name == "Via" || untrusted(name) || framing(name) }

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
