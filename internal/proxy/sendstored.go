package proxy

import (
	"io"
	"net"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/conn/sendfile"
)

// stored answers from an entry.
type stored struct{ *cache.Object }

func (s stored) heading(x *exchange) heading {
	e := s.Object
	return heading{clientHead: storedClientHead(e), status: e.Status(), size: e.Content().Size(), at: x.start.Add(x.waited), evaluation: onEntry}
}

func (s stored) send(x *exchange, c selection) {
	e := s.Object
	switch {
	case x.byFile:
		x.p.sendFromDisk(x, e, c)
	case x.opened != nil:
		x.p.sendRead(x, c.length, e)
	case c.parts != nil:
		x.p.sendStored(x, c.parts.Content, c.length, e)
	default:
		x.p.sendOne(x, e, c.first, c.length)
	}
}

func (stored) leave(*exchange) {}

func (stored) abandon() {}

// entry returns what x is answered from alone; nil where that is something else.
func (x *exchange) entry() *cache.Object {
	if s, ok := x.from.(stored); ok {
		return s.Object
	}
	return nil
}

// fromStore reports whether x is answered from the store, without the origin.
func (x *exchange) fromStore() bool {
	switch from := x.from.(type) {
	case stored, *assembly:
		return true
	case *slicing:
		return from.confirmed
	}
	return false
}

// What is stored in memory is sent from where it is, in one write. While that lasts the bodies are
// held: they may leave the cache meanwhile. Where each write has a deadline of its own, a
// large answer goes in pieces, for a deadline sees no progress within a write.
const (
	atOnce      = 256 << 10 // the most that goes in one write that has a deadline
	storedPiece = 32 << 10
)

// sendOne has length bytes of the body of e sent, from first on.
func (p *Proxy) sendOne(x *exchange, e *cache.Object, first, length int64) {
	if length == 0 {
		return
	}
	content := e.Content()
	b, _ := content.Bytes()
	b = b[first : first+length]
	if p.WriteIdle > 0 && len(b) > atOnce {
		p.sendInPieces(x, net.Buffers{b}, e)
		return
	}
	x.bytes = int64(len(b))
	if content.Size() > pinned.Least {
		p.sendingOf(x).Hold(e.Pin())
		if f := p.sendfileCopy(x, e, length); f != nil {
			x.answer.SayFile(b, f, first)
			return
		}
	}
	if e == x.loaded && !x.refresh { // nobody else has it
		x.answer.Held = e.Lend(x.answer.Held)
	}
	x.answer.Say(b)
}

// sendfileCopy returns a file that has all of the body of e, of which x gets length bytes, where
// x's front can send from it; nil without.
func (p *Proxy) sendfileCopy(x *exchange, e *cache.Object, length int64) *sendfile.Copy {
	pin := e.Pin()
	if !x.req.SendsFiles || pin == nil || length < sendfile.Least {
		return nil
	}
	b, _ := e.Content().Bytes()
	return p.Copies.Take(&pin.Copy, b)
}

// sendStored has content sent, which is length bytes of the bodies of entries and what goes
// between.
func (p *Proxy) sendStored(x *exchange, content net.Buffers, length int64, entries ...*cache.Object) {
	if p.WriteIdle > 0 && length > atOnce {
		p.sendInPieces(x, content, entries...)
		return
	}
	x.bytes = length
	sending := p.sendingOf(x)
	for _, e := range entries {
		sending.Hold(e.Pin())
	}
	x.answer.SayAll(content)
}

// sendRead has length bytes sent of the bodies of entries, not all of which lie in memory, and of
// what goes between: what x has opened.
func (p *Proxy) sendRead(x *exchange, length int64, entries ...*cache.Object) {
	b := p.newBody(x)
	b.src, b.left = x.opened, length
	for _, e := range entries {
		b.sending.Hold(e.Pin())
	}
	x.answer.Content = &streamed{b}
}

// sendingOf returns what is to be told of the bodies that x's answer is sent from.
func (p *Proxy) sendingOf(x *exchange) *pace.Sending {
	sending := p.Sends.Begin(x.req.Conn, x.start)
	if sending != nil {
		x.answer.Held = sending
	}
	return sending
}

// pieces is content that is sent from the store piece by piece.
type pieces struct {
	*body
	content net.Buffers
}

func (p *Proxy) sendInPieces(x *exchange, content net.Buffers, entries ...*cache.Object) {
	b := p.newBody(x)
	for _, c := range content {
		b.left += int64(len(c))
	}
	for _, e := range entries {
		b.sending.Hold(e.Pin())
	}
	x.answer.Content = &pieces{b, content}
}

// Next implements message.Content, and gives each piece its time.
func (b *pieces) Next() (piece []byte, err error) {
	defer b.rescue(&err)
	if err := b.written(); err != nil {
		return nil, err
	}
	for len(b.content) > 0 {
		rest := b.content[0]
		if len(rest) == 0 {
			b.content = b.content[1:]
			continue
		}
		piece, b.content[0] = rest[:min(storedPiece, len(rest))], rest[min(storedPiece, len(rest)):]
		b.sent(len(piece))
		return piece, nil
	}
	b.whole = true
	return nil, io.EOF
}
