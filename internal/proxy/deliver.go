package proxy

// deliver fills the answer: the head, and the content as bytes that the front sends from where
// they are, or as a stream.
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
	x.answer.Last = x.closing
}

// deliverEntry answers from the store.
func (p *Proxy) deliverEntry(x *exchange) {
	e := x.entry
	size := int64(len(e.Body))
	c := cut{first: 0, length: size}
	if x.asks.conditional || x.asks.ranged {
		c = x.evaluate(storedRepresentation(e), size, x.settings.Ranges).divide(e)
	}
	p.head(x, heading{status: e.Status, fields: e.Header, cut: c, size: size, held: e, at: x.start.Add(x.waited)})
	switch {
	case c.bodyless() || x.asks.head:
		return
	case c.parts != nil:
		p.sendStored(x, c.parts.content, c.length, e)
		return
	case c.status == 0 && x.answer.Fields != nil:
		x.answer.Serial = e.Serial
	}
	p.sendOne(x, e, e.Body[c.first:c.first+c.length])
}

// deliverFetched answers with what an origin sends, through a flight or not.
func (p *Proxy) deliverFetched(x *exchange) {
	h := x.head
	g := h.given(x.collapsed)
	c := cut{first: 0, length: h.length}
	if x.onResult && (x.asks.conditional || x.asks.ranged) {
		c = x.evaluate(g.rep, h.length, x.settings.Ranges) // but a stream comes in one part, or whole
	}
	p.describe(x)
	p.head(x, heading{status: h.status, fields: g.fields, cut: c, size: h.length, held: g.entry, at: x.start})
	if x.asks.head || !bodyAllowed(x.sent) || c.bodyless() {
		p.drain(x)
		return
	}
	x.announceTrailers(c)
	if h.length == 0 {
		p.drain(x)
		return
	}
	p.stream(x, c)
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
	a := x.answer
	a.Status, a.Length, x.sent = x.status, int64(len(text)), x.status
	b := append(a.Lines, "Date: "...)
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
	a.Lines = p.appendCacheStatus(b, x, "", 0)
	if !x.asks.head {
		x.bytes = int64(len(text))
		a.Say([]byte(text))
	}
}

func bodyAllowed(status int) bool {
	return status != statusNoContent && status != statusNotModified
}
