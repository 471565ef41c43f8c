package proxy

import (
	"io"
	"net"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/pace"
	"edgeproxy/internal/pinned"
)

// What is stored is sent from where it is, in one write. While that lasts the bodies are
// held: they may leave the cache meanwhile. Where each write has a deadline of its own, a
// large answer goes in pieces, for a deadline sees no progress within a write.
const (
	atOnce      = 256 << 10 // the most that goes in one write that has a deadline
	storedPiece = 32 << 10
)

// sendOne has b sent, which is of the body of e.
func (p *Proxy) sendOne(x *exchange, e *cache.Entry, b []byte) {
	if p.WriteIdle > 0 && len(b) > atOnce {
		p.sendInPieces(x, net.Buffers{b}, e)
		return
	}
	x.bytes = int64(len(b))
	if len(e.Body) > pinned.Least {
		p.hold(x).Hold(e.Pin)
	}
	x.ctx.Response.SetBodyRaw(b)
}

// sendStored has content sent, which is length bytes of the bodies of entries and what goes
// between.
func (p *Proxy) sendStored(x *exchange, content net.Buffers, length int64, entries ...*cache.Entry) {
	if p.WriteIdle > 0 && length > atOnce {
		p.sendInPieces(x, content, entries...)
		return
	}
	x.bytes = length
	sending := p.hold(x)
	for _, e := range entries {
		sending.Hold(e.Pin)
	}
	x.ctx.Response.SetBodyStream(&content, int(length))
}

// holds is the user value of a request that holds what its answer is sent from.
type holds struct{}

// hold returns what is to be told of the bodies that x's answer is sent from. fasthttp
// closes the values of a request once its answer was written, or has failed.
func (p *Proxy) hold(x *exchange) *pace.Sending {
	sending := p.Sends.Begin(x.ctx.Conn(), x.start)
	if sending != nil {
		x.ctx.SetUserValue(holds{}, sending)
	}
	return sending
}

// storedBody is a body that is sent from the store piece by piece.
type storedBody struct {
	*body
	content net.Buffers
}

func (p *Proxy) sendInPieces(x *exchange, content net.Buffers, entries ...*cache.Entry) {
	length := 0
	for _, c := range content {
		length += len(c)
	}
	b := p.newBody(x)
	for _, e := range entries {
		b.sending.Hold(e.Pin)
	}
	b.left = int64(length)
	x.ctx.Response.SetBodyStream(&storedBody{b, content}, length)
}

// Read is not called: WriteTo is.
func (b *storedBody) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// SupportsBodyWriteTo lets fasthttp use WriteTo.
func (b *storedBody) SupportsBodyWriteTo() bool { return true }

// WriteTo writes the content, and gives each piece its time.
func (b *storedBody) WriteTo(w io.Writer) (n int64, err error) {
	defer b.rescue(&err)
	for _, content := range b.content {
		for len(content) > 0 {
			piece := content[:min(storedPiece, len(content))]
			content = content[len(piece):]
			b.sent(len(piece))
			m, err := w.Write(piece)
			n += int64(m)
			if err == nil {
				err = b.written()
			}
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

var _ fasthttp.BodyWriterTo = (*storedBody)(nil)
