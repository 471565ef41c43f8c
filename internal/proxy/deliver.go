package proxy

import "edgeproxy/internal/http/message"

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
	if page := x.intercepted(&h); page != nil {
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
