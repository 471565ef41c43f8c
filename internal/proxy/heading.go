package proxy

import (
	"strconv"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
	"edgeproxy/internal/rfc9111"
)

// heading is what the head of an answer is made of.
type heading struct {
	status int        // of the response; that of cut goes first
	fields field.List // of the response, gathered
	cut    cut
	size   int64 // of the whole that cut is of; -1 if unknown

	// held is the stored response that the answer is given from, so that its Age is ours to
	// say, at is when; nil where an origin has answered this very request.
	held *cache.Entry
	at   time.Time
}

// head makes the head of x's answer: the fields of the response, as far as the cut leaves them,
// Age, Cache-Status, and what frames the part that is sent.
func (p *Proxy) head(x *exchange, h heading) {
	a := x.answer
	a.Status = h.cut.statusOr(h.status)
	x.sent = a.Status
	fields, others := splitCacheStatus(h.fields)
	h.cut.tagless = x.tagless()
	if h.cut.leavesAll() {
		a.Fields = fields
	} else {
		a.Lines = appendFields(a.Lines, fields, h.cut)
	}
	ttl := int64(0)
	if h.held != nil {
		age := rfc9111.CurrentAge(h.held.InitialAge, h.held.ResponseTime, h.at)
		ttl = int64((h.held.Policy.Lifetime - age).Seconds())
		a.Lines = appendInt(a.Lines, "Age: ", int64(age.Seconds()))
	}
	a.Lines = p.appendCacheStatus(a.Lines, x, others, ttl)
	if bodyAllowed(a.Status) { // a 304 or 204 has no length (RFC 9110 section 8.6)
		a.Lines = h.cut.appendTo(a.Lines, h.size)
		a.Length = h.cut.sent()
	}
}

// addLine adds a line to the head of x's answer. Its name comes with colon and space.
func (x *exchange) addLine(name, value string) {
	b := append(x.answer.Lines, name...)
	b = append(b, value...)
	x.answer.Lines = append(b, '\r', '\n')
}

// appendFields appends fields, without those that an answer cut like this omits.
func appendFields(b []byte, fields field.List, c cut) []byte {
	for i := range fields {
		f := &fields[i]
		if c.omits(f.Name) {
			continue
		}
		b = append(b, f.Name...)
		b = append(b, ':', ' ')
		b = append(b, f.Value...)
		b = append(b, '\r', '\n')
	}
	return b
}

// appendInt appends a field line whose name, with colon and space, is given.
func appendInt(b []byte, name string, value int64) []byte {
	b = append(b, name...)
	b = strconv.AppendInt(b, value, 10)
	return append(b, '\r', '\n')
}
