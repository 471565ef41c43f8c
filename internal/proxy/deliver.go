package proxy

import (
	"strconv"

	"edgeproxy/internal/rfc9111"
)

// deliver writes the answer: the head, and then the body as raw bytes that
// fasthttp sends from where they are, or as a stream.
func (p *Proxy) deliver(x *exchange) {
	if x.upload != nil && x.upload.leftOff() {
		x.closing = true // the rest of the upload is still to come
	}
	switch {
	case x.upgraded != nil:
		p.deliverUpgrade(x)
	case x.assembled.made():
		p.deliverAssembled(x)
	case x.slices != nil:
		p.deliverSlices(x)
	case x.entry != nil:
		p.deliverEntry(x)
	case x.reader != nil || x.response != nil:
		p.deliverFetched(x)
	default:
		p.deliverOwn(x)
	}
}

// deliverEntry answers from the store.
func (p *Proxy) deliverEntry(x *exchange) {
	e := x.entry
	age := rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, x.start.Add(x.waited))
	size := int64(len(e.Body))
	cut := cut{first: 0, length: size}
	if x.asks.conditional || x.asks.ranged {
		cut = x.evaluate(storedRepresentation(e), size, x.settings.Ranges).divide(e)
	}
	ttl := int64((e.Policy.Lifetime - age).Seconds())
	if cut.status == 0 && x.asks.get && size > 0 {
		p.sendWhole(x, int64(age.Seconds()), ttl)
	} else {
		b, others := x.appendHead(x.begin(cut.statusOr(e.Status)), e.Header, cut)
		b = appendInt(b, "Age: ", int64(age.Seconds()))
		b = p.appendCacheStatus(b, x, others, ttl)
		b = cut.appendTo(b, size)
		x.send(b)
	}
	if cut.bodyless() || x.asks.head {
		x.ctx.Response.SkipBody = true
		return
	}
	if cut.parts != nil {
		p.sendStored(x, cut.parts.content, cut.length, e)
		return
	}
	p.sendOne(x, e, e.Body[cut.first:cut.first+cut.length])
}

// sendWhole makes the head for an entry that is sent as it is. What is the same
// each time is copied from a head parsed before, if there is one; fasthttp adds
// the length with the body.
func (p *Proxy) sendWhole(x *exchange, age, ttl int64) {
	h := &x.ctx.Response.Header
	_, others := apart(x.entry.Header)
	kept := !x.tagless() // those that are kept have all fields
	switch {
	case kept && p.heads.copyTo(h, x.entry):
		x.sent = x.entry.Status
		if x.closing {
			h.SetConnectionClose()
		}
	default:
		b, _ := x.appendHead(x.begin(x.entry.Status), x.entry.Header, cut{})
		x.send(b)
		if kept && !x.closing && p.heads.wants(x.entry) {
			p.heads.keep(h, x.entry)
		}
	}
	h.AddBytesV("Age", strconv.AppendInt(x.block[:0], age, 10))
	if x.settings.CacheStatus {
		x.block = p.appendStatus(x.block[:0], x, others, ttl)
		h.AddBytesV(headerCacheStatus, x.block)
	}
}

// deliverFetched answers with what an origin sends, through a flight or not.
func (p *Proxy) deliverFetched(x *exchange) {
	h := x.head
	g := h.given(x.collapsed)
	cut := cut{first: 0, length: h.length}
	if x.onResult && (x.asks.conditional || x.asks.ranged) {
		cut = x.evaluate(g.rep, h.length, x.settings.Ranges) // but a stream comes in one part, or whole
	}
	p.describe(x)
	b, others := x.appendHead(x.begin(cut.statusOr(h.status)), g.fields, cut)
	if g.entry != nil {
		b = appendInt(b, "Age: ", int64(rfc9111.CurrentAge(g.entry.InitialAge, g.entry.ResponseTime, x.start).Seconds()))
	}
	b = p.appendCacheStatus(b, x, others, 0)
	if bodyAllowed(h.status) {
		b = cut.appendTo(b, h.length) // a 304 or 204 has no length (RFC 9110 section 8.6)
	}
	skip := x.asks.head || cut.bodyless() || !bodyAllowed(h.status)
	if !skip {
		b = p.announceTrailers(b, x, cut)
	}
	x.send(b)
	x.ctx.Response.SkipBody = skip
	if x.ctx.Response.SkipBody || h.length == 0 {
		p.drain(x)
		return
	}
	p.stream(x, cut)
}

// drain ends an answer without a body. What is read along goes on if somebody
// else wants it; an empty body is awaited, so that it is stored before the client
// can ask again.
func (p *Proxy) drain(x *exchange) {
	if x.reader != nil {
		if x.head.length == 0 {
			_, _ = x.reader.Next()
		}
		_ = x.reader.Close()
	}
	if x.response != nil {
		p.ended(x, x.response.Body.Close() == nil)
	}
}

// deliverOwn answers with an error of our own: a short text and the reason in
// Cache-Status. Nothing of the inside leaks. What a purge or a challenge gets is ours, too.
func (p *Proxy) deliverOwn(x *exchange) {
	text := x.challenge
	if text == "" {
		text = statusText(x.status) + "\n"
	}
	b := x.begin(x.status)
	b = append(b, "Date: "...)
	b = appendDate(b, x.start)
	b = append(b, "\r\nVia: "...)
	b = append(b, p.via...)
	b = append(b, "\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"...)
	switch x.status {
	case statusServiceUnavailable, statusTooManyRequests:
		b = appendInt(b, "Retry-After: ", seconds(x.retryAfter))
	case statusMethodNotAllowed:
		b = append(b, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"...)
	}
	b = p.appendCacheStatus(b, x, "", 0)
	b = appendInt(b, "Content-Length: ", int64(len(text)))
	x.send(b)
	x.ctx.Response.SkipBody = x.asks.head
	if !x.asks.head {
		x.bytes = int64(len(text))
		x.ctx.Response.SetBodyString(text)
	}
}

func bodyAllowed(status int) bool {
	return status != statusNoContent && status != statusNotModified
}
