package proxy

import (
	"strconv"
	"strings"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/route/setting"
)

// source is where the head and the content of an answer come from. It is set where the answer is decided. Each kind has its own
// file. To make a source allocates nothing.
type source interface {
	// heading returns what the head is made of, and what conditions and Range are compared with.
	heading(x *exchange) heading
	// send makes what c selects the content of the answer.
	send(x *exchange, c selection)
	// leave closes the source if only its head is sent.
	leave(x *exchange)
	// abandon closes what the source holds, at whatever step the answer is.
	abandon()
}

// deliver fills the answer: the head, and the content, either as bytes that the front sends without a copy, or as a stream.
func (p *Proxy) deliver(x *exchange) {
	if x.upload != nil && x.upload.leftOff() {
		x.closing = true // the rest of the upload is still to come
	}
	h := x.from.heading(x)
	var page *ErrorPage
	if x.uses&usesOwnPages != 0 {
		page = x.intercepted(&h)
	}
	if page != nil {
		p.deliverPage(x, &h, page)
	} else if !p.deliverSelection(x, &h) {
		p.restartAsMiss(x)
		p.deliver(x)
		return
	}
	x.answer.Last = x.closing
	if x.req.Version >= message.HTTP2 { // whatever becomes of a stream, others go on
		x.answer.Last = p.draining.Load()
	}
}

// deliverSelection fills the answer with what conditions and Range select of x's source. It reports false if the content
// cannot be read.
func (p *Proxy) deliverSelection(x *exchange, h *heading) bool {
	c := x.selectionOf(h)
	headOnly := x.asks.head || c.headOnly() || !bodyAllowed(c.statusOr(h.status))
	if !headOnly && x.readsContent() && !x.openContent(c) {
		return false
	}
	p.head(x, h, c)
	if headOnly {
		x.from.leave(x)
	} else {
		x.from.send(x, c)
	}
	return true
}

func bodyAllowed(status int) bool {
	return status != statusNoContent && status != statusNotModified
}

// heading is what the head of an answer is made of.
type heading struct {
	clientHead
	status     int       // the status of the response; the cut's goes first
	size       int64     // bytes of the whole; -1 if unknown
	at         time.Time // when a stored response is given
	evaluation evaluation
	parts      *divided // with onParts
}

// evaluation says how conditions and Range apply to an answer.
type evaluation uint8

const (
	notEvaluated evaluation = iota // all of it is sent: they have no say, or the origin has heard them
	onResponse                     // on the response; several ranges have to be one, or are not sent
	onEntry                        // on the content of an entry, also several ranges
	onParts                        // parts are its content, of which they have chosen some to be got
)

// divided is a representation whose parts are got one by one.
type divided struct {
	whole int64                  // bytes of it
	rep   rfc9111.Representation // all parts belong to it
	cut   selection              // says which parts are needed
}

// choose finds which parts of d are the answer to x.
func (d *divided) choose(x *exchange) { d.cut = x.evaluate(d.rep, d.whole, 0) }

// selectionOf applies the conditions and the Range of x to the response that its answer is made of.
// Of one in parts they have chosen the parts before, by divided.choose. Nothing else evaluates
// them, and each representation is held against them once.
func (x *exchange) selectionOf(h *heading) selection {
	switch {
	case h.evaluation == onParts:
		c := h.parts.cut
		c.assembled = true
		return c
	case h.evaluation == notEvaluated || !x.selective():
		return selection{length: h.size}
	}
	c := x.evaluate(h.representation(), h.size, x.settings.Ranges)
	if h.evaluation == onEntry {
		c = c.asByteRanges(h.held)
	}
	return c
}

// head makes the head of x's answer: the fields of the response, as far as the cut leaves them,
// Age, Cache-Status, and what frames the part that is sent.
func (p *Proxy) head(x *exchange, h *heading, c selection) {
	a := x.answer
	a.Status = c.statusOr(h.status)
	x.sent = a.Status
	fields, lines, others := h.split()
	if x.uses&usesTags != 0 && x.trusted == nil {
		c.tagless = x.route
	}
	if c.leavesAll() {
		a.Fields, a.Stored = fields, lines
	} else {
		a.Lines = appendFields(a.Lines, fields, lines, c)
	}
	ttl := int64(0)
	if age, lifetime, ok := h.aged(h.at); ok {
		ttl = int64((lifetime - age).Seconds())
		if h.held != nil {
			x.ttl = ttl
		}
		a.Lines = appendInt(a.Lines, "Age: ", int64(age.Seconds()))
	}
	a.Lines = p.appendCacheStatus(a.Lines, x, others, ttl)
	if bodyAllowed(a.Status) { // a 304 or 204 has no length (RFC 9110 section 8.6)
		a.Lines = c.appendTo(a.Lines, h.size)
		a.Length = c.sent()
	}
}

// addLine adds a line to the head of x's answer. Its name comes with colon and space.
func (x *sending) addLine(name, value string) {
	b := append(x.answer.Lines, name...)
	b = append(b, value...)
	x.answer.Lines = append(b, '\r', '\n')
}

// appendFields appends fields and lines, without those that an answer cut like this omits.
func appendFields(b []byte, fields field.List, lines field.Lines, c selection) []byte {
	for f, rest, ok := lines.Next(); ok; f, rest, ok = rest.Next() {
		if !c.omits(f.Name) {
			b = append(b, lines[:len(lines)-len(rest)]...)
		}
		lines = rest
	}
	for i := range fields {
		if !c.omits(fields[i].Name) {
			b = field.AppendLines(b, fields[i:i+1])
		}
	}
	return b
}

// appendInt appends a field line whose name, with colon and space, is given.
func appendInt(b []byte, name string, value int64) []byte {
	b = append(b, name...)
	b = strconv.AppendInt(b, value, 10)
	return append(b, '\r', '\n')
}

// clientHead is the head of a response as one client gets it.
type clientHead struct {
	fields field.List  // gathered, of a fetched response
	lines  field.Lines // gathered, of a stored one; only one of the two is set

	// held is the stored response that is served. made is the entry of the response that is being fetched, for a follower. With
	// either the answer has an Age of ours. If the origin has answered this very request, both are nil, and own is what the
	// origin has sent.
	held *cache.Object
	made *cache.Entry
	own  *outcome
}

// clientHead returns the head of h as a client gets it. The client whose request the origin has answered gets what the origin
// sent. A follower gets what a hit would give it a moment later: the header of the entry, without the fields that private="X" and
// no-cache="X" name and others that are not stored (RFC 9111 sections 5.2.2.4 and 5.2.2.7). A follower may get nothing else of h,
// so this method alone decides it.
func (h *outcome) clientHead(follower bool) clientHead {
	if !follower {
		return clientHead{fields: h.fields, own: h}
	}
	return clientHead{fields: h.entry.Header, made: h.entry}
}

// storedClientHead returns the head of the stored response e as a client gets it.
func storedClientHead(e *cache.Object) clientHead { return clientHead{lines: e.Header(), held: e} }

// representation is what conditions and Range are compared with.
func (g *clientHead) representation() rfc9111.Representation {
	switch {
	case g.held != nil:
		return storedRepresentation(g.held)
	case g.made != nil:
		return rfc9111.RepresentationOf(int(g.made.Status), g.fields, g.made.ResponseTime)
	}
	return g.own.rep()
}

// storedRepresentation is what conditions and Range are compared with for what is stored.
func storedRepresentation(o *cache.Object) rfc9111.Representation {
	return representationAs(o.Status(), o)
}

// representationAs is storedRepresentation with another status.
func representationAs(status int, o *cache.Object) rfc9111.Representation {
	var room [usualFields]field.Field
	return rfc9111.RepresentationOf(status, o.Header().AppendTo(room[:0]), o.ResponseTime())
}

// usualFields is for how many fields of a stored response there is room on the stack.
const usualFields = 24

// list returns the fields as a list. It makes one of what is stored.
func (g *clientHead) list() field.List {
	if g.held != nil {
		return g.lines.AppendTo(nil)
	}
	return g.fields
}

// aged returns the age at a time of what is served from the store, and for how long it is fresh; false
// where the origin has answered.
func (g *clientHead) aged(at time.Time) (age, lifetime time.Duration, ok bool) {
	switch {
	case g.held != nil:
		return g.held.Age(at), g.held.Lifetime(), true
	case g.made != nil:
		return rfc9111.CurrentAge(g.made.InitialAge, g.made.ResponseTime, at), g.made.Policy.Lifetime, true
	}
	return 0, 0, false
}

const headerCacheStatus = "Cache-Status" // canonical

// structuredName is a name as a structured field item: a token where it is one,
// else a quoted string (RFC 9651 sections 3.3.3 and 3.3.4).
func structuredName(name string) string {
	if field.ValidName(name) && (name[0] == '*' || 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z') {
		return name
	}
	return strconv.Quote(name)
}

// withOneCacheStatus returns fields with what the caches between us and the origin say in
// Cache-Status, if anything, as one line behind all others. It is forwarded, and kept with
// what is stored: a hit tells how its response came here (RFC 9211 section 2).
func withOneCacheStatus(fields field.List) field.List {
	if !fields.Has(headerCacheStatus) {
		return fields
	}
	var said []string
	for _, line := range fields.Values(headerCacheStatus) {
		if line != "" {
			said = append(said, line)
		}
	}
	fields = fields.Without(func(name string) bool { return name == headerCacheStatus })
	if len(said) > 0 {
		fields.Add(headerCacheStatus, strings.Join(said, ", "))
	}
	return fields
}

// splitCacheStatus takes what other caches say from gathered fields.
func splitCacheStatus(fields field.List) (rest field.List, others string) {
	last := len(fields) - 1
	if last < 0 || fields[last].Name != headerCacheStatus {
		return fields, ""
	}
	return fields[:last], fields[last].Value
}

// split is splitCacheStatus for what a client gets, which has fields or lines.
func (g *clientHead) split() (fields field.List, lines field.Lines, others string) {
	if g.held == nil {
		fields, others = splitCacheStatus(g.fields)
		return fields, "", others
	}
	if before, last := g.lines.Last(); last.Name == headerCacheStatus {
		return nil, before, last.Value
	}
	return nil, g.lines, ""
}

// appendCacheStatus appends the Cache-Status line of the answer (RFC 9211): what other
// caches have said, the one closest to the origin first, and then our own. ttl is the remaining freshness of what is stored
// in seconds, below zero where it is stale.
func (p *Proxy) appendCacheStatus(b []byte, x *exchange, others string, ttl int64) []byte {
	if x.settings.CacheStatus.Send == setting.StatusToNone {
		return b
	}
	b = append(b, headerCacheStatus+": "...)
	return append(p.appendStatus(b, x, others, ttl), '\r', '\n')
}

// appendStatus appends the value. A client that is told in brief hears of us alone.
func (p *Proxy) appendStatus(b []byte, x *exchange, others string, ttl int64) []byte {
	brief := x.settings.CacheStatus.Send == setting.StatusToTrusted && !x.settings.statusTrusted.Holds(x.ClientAddress())
	if others != "" && !brief {
		b = append(b, others...)
		b = append(b, ", "...)
	}
	b = append(b, p.statusName...)
	switch {
	case x.fromStore() && x.result != resultRevalidated:
		b = append(b, "; hit"...)
		if brief {
			return b
		}
		b = append(b, "; ttl="...)
		b = strconv.AppendInt(b, ttl, 10)
	case x.fwd != fwdNone:
		b = append(b, "; fwd="...)
		b = append(b, x.fwd.String()...)
	}
	if brief {
		return b
	}
	return x.appendOutcome(b)
}

// appendOutcome appends what became of the request, for a client that is told all.
func (x *exchange) appendOutcome(b []byte) []byte {
	if x.fwdStatus != 0 || x.onResult {
		b = x.appendForwardStatus(b)
	}
	if x.stored {
		b = append(b, "; stored"...)
	}
	if x.collapsed {
		b = append(b, "; collapsed"...)
	}
	if x.reason != reason.None {
		b = append(b, "; detail="...)
		b = x.appendDetail(b)
	}
	return b
}

// appendForwardStatus says what the origin answered where we answer something
// else.
func (x *exchange) appendForwardStatus(b []byte) []byte {
	status := x.fwdStatus
	if x.onResult && x.selective() {
		if h := x.fetched(); h != nil && h.status != x.sent {
			status = h.status
		}
	}
	if status == 0 {
		return b
	}
	b = append(b, "; fwd-status="...)
	return strconv.AppendInt(b, int64(status), 10)
}

// appendDetail appends the word for the reason. The counting policy says how far the key has come, and request-cookie which
// cookies it is about.
func (x *exchange) appendDetail(b []byte) []byte {
	switch x.reason {
	case reason.TooFewSightings:
		b = append(b, "sighting-"...)
		b = strconv.AppendInt(b, int64(x.verdict.Sightings), 10)
		b = append(b, "-of-"...)
		return strconv.AppendInt(b, int64(x.verdict.Needed), 10)
	case reason.RequestCookie:
		return x.appendCookieDetail(b)
	default:
		return append(b, x.reason.String()...)
	}
}
