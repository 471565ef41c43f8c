package proxy

import (
	"strconv"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// heading is what the head of an answer is made of.
type heading struct {
	clientHead
	status     int       // of the response; that of the cut goes first
	size       int64     // of the whole; -1 if unknown
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
	rep   rfc9111.Representation // that all parts belong to
	cut   selection              // that says which parts are needed
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
	c.tagless = x.tagless()
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
func (x *exchange) addLine(name, value string) {
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
