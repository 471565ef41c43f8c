package proxy

import "edgeproxy/internal/message"

// source is where the content of an answer comes from. Each has its own file.
type source interface {
	// heading says what the head is made of, with what conditions and Range leave to send.
	heading(x *exchange) heading
	// send makes what c leaves the content of the answer.
	send(x *exchange, c cut)
	// leave ends the source, of which only the head is sent.
	leave(x *exchange)
}

// source returns where the content of x's answer comes from, nil where that is our own.
func (x *exchange) source() source {
	switch {
	case x.assembled.made():
		return assembledParts{}
	case x.slices != nil:
		return x.slices
	case x.entry != nil:
		return storedWhole{}
	case x.reader != nil || x.response != nil:
		return fetched{}
	}
	return nil
}

// deliver fills the answer: the head, and the content as bytes that the front sends from where
// they are, or as a stream.
func (p *Proxy) deliver(x *exchange) {
	if x.upload != nil && x.upload.leftOff() {
		x.closing = true // the rest of the upload is still to come
	}
	switch from := x.source(); {
	case x.upgraded != nil:
		p.deliverUpgrade(x)
	case from == nil:
		p.deliverOwn(x)
	default:
		h := from.heading(x)
		p.head(x, h)
		if x.asks.head || h.cut.bodyless() || !bodyAllowed(x.sent) {
			from.leave(x)
		} else {
			from.send(x, h.cut)
		}
	}
	x.answer.Last = x.closing
	if x.req.Version >= message.HTTP2 { // whatever becomes of a stream, others go on
		x.answer.Last = p.draining.Load()
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
