package proxy

import "edgeproxy/internal/message"

// source is where the content of an answer comes from. It is set where the answer is decided. Each
// kind has its own file; none takes memory of its own for it.
type source interface {
	// heading says what the head is made of, and what conditions and Range are compared with.
	heading(x *exchange) heading
	// send makes what c leaves the content of the answer.
	send(x *exchange, c selection)
	// leave ends the source, of which only the head is sent.
	leave(x *exchange)
	// abandon lets go of what the source holds, wherever the answer is.
	abandon()
}

// deliver fills the answer: the head, and the content as bytes that the front sends from where
// they are, or as a stream.
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

// deliverSelection fills the answer with what conditions and Range leave of x's source. It reports false where that has to be
// read and cannot be.
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
