package http1

import (
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
)

// send gives the answer to fasthttp, which writes it when the handler has returned.
func (t *turn) send() {
	a := &t.answer
	a.Last = a.Last || t.server.stopping.Load()
	switch {
	case a.TakeOver != nil:
		t.handOver()
	case a.Content == nil:
		t.sendBytes(nil)
	default:
		if content := a.Content.Bytes(); content != nil {
			t.sendBytes(content)
			return
		}
		t.sendStream()
	}
}

// sendBytes sends content that is in memory without a copy. fasthttp gets an empty answer to send, and
// conn sends this one in its place. To parse the head into fasthttp's header, and to serialize that
// again, would cost more than all the rest of a hit.
func (t *turn) sendBytes(content net.Buffers) {
	if t.answer.Length < 0 && content != nil {
		t.answer.Length = length(content)
	}
	t.block, t.content = t.appendRest(t.appendStart()), content
	t.conn.pending = t
	resp := &t.ctx.Response
	resp.SkipBody = true
	if t.answer.Last {
		resp.SetConnectionClose()
	}
}

// write writes the answer of sendBytes. rest is the end of its head, which says whether the connection ends.
func (t *turn) write(w net.Conn, rest []byte) error {
	if t.answer.Silent {
		return errSilent
	}
	b := append(t.block, rest...)
	if n := int64(len(b)) + length(t.content); n > writeBuffer {
		t.block = b
		return t.writeLong(w, b, n)
	}
	for _, piece := range t.content {
		b = append(b, piece...)
	}
	t.block = b
	if t.conn.files {
		if b = t.conn.sendBytes(b); len(b) == 0 {
			return nil
		}
	}
	_, err := w.Write(b)
	return err //nolint:wrapcheck // looked at by nobody
}

// errSilent ends the connection of an answer that is not sent.
var errSilent = errors.New("the answer is not sent")

// maxUntoldBytes is the longest answer, or part of a file in memory, that is sent by a call that the scheduler is not told
// of (0077). A copy to a socket of this machine takes a microsecond for each 5 KiB or so.
const maxUntoldBytes = 64 << 10

// writeLong writes head and the content, n bytes in all, without a copy.
func (t *turn) writeLong(w net.Conn, head []byte, n int64) error {
	content := t.content
	if t.conn.files && len(content) == 1 && n <= maxUntoldBytes {
		left, body := t.conn.sendBoth(head, content[0])
		if len(left)+len(body) == 0 {
			return nil
		}
		t.vector = append(t.room[:0], left, body)
	} else {
		t.vector = append(append(t.room[:0], head), content...)
	}
	_, err := t.vector.WriteTo(w)
	clear(t.room[:])
	return err //nolint:wrapcheck // fasthttp looks at it
}

// length returns how many bytes content has.
func length(content net.Buffers) (n int64) {
	for _, piece := range content {
		n += int64(len(piece))
	}
	return n
}

// sendStream sends content as it comes.
func (t *turn) sendStream() {
	a, resp := &t.answer, &t.ctx.Response
	if a.Length < 0 && t.request.Version < message.HTTP11 {
		t.untilClose()
		return
	}
	t.head()
	resp.ImmediateHeaderFlush = true
	t.stream = &stream{turn: t, content: a.Content}
	if src, ok := a.Content.(io.Reader); ok && a.Length >= 0 {
		resp.SetBodyStream(&sized{t.stream, src}, int(a.Length))
		return
	}
	resp.SetBodyStream(&pieces{t.stream}, int(a.Length)) // -1 is chunks
}

// stream is content that fasthttp sends and then closes.
type stream struct {
	turn    *turn // nil: closed
	content message.Content
}

// Close ends the answer.
func (s *stream) Close() error {
	if t := s.turn; t != nil {
		t.end()
	}
	return nil
}

// sized has a known length and is read piece by piece: fasthttp sends each
// piece at once.
type sized struct {
	*stream
	io.Reader
}

// pieces writes each piece as one chunk, or as what it is where the length is known.
type pieces struct{ *stream }

var _ fasthttp.BodyWriterTo = (*pieces)(nil)

// Read is not called: WriteTo is.
func (p *pieces) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// SupportsBodyWriteTo lets fasthttp use WriteTo.
func (p *pieces) SupportsBodyWriteTo() bool { return true }

// WriteTo writes each piece as it comes, and has fasthttp write trailers behind the last chunk.
func (p *pieces) WriteTo(w io.Writer) (int64, error) {
	n, err := writePieces(w, p.content)
	if err == nil && p.turn.answer.Length < 0 {
		addTrailers(&p.turn.ctx.Response.Header, p.content.Trailers())
	}
	return n, err
}

// writePieces writes all of content.
func writePieces(w io.Writer, content message.Content) (n int64, err error) {
	for {
		piece, err := content.Next()
		if len(piece) > 0 {
			m, err := w.Write(piece)
			n += int64(m)
			if err != nil {
				return n, err
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // a failure that wraps io.EOF is no end
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// addTrailers gives trailers to fasthttp, which writes them behind the last chunk. It is
// called while the body is written: names that the head has not announced are taken as
// they come, and fields of the head that are called the same stay there.
func addTrailers(h *fasthttp.ResponseHeader, trailers field.List) {
	for _, f := range trailers {
		if h.AddTrailer(f.Name) == nil { // else Add would take it for a field of the head
			h.Add(f.Name, f.Value)
		}
	}
}

// handOver gives the connection to the answer, with the head of a 101 (RFC 9110 section 15.2.2).
func (t *turn) handOver() {
	head := append(t.appendStart(), t.answer.Lines...)
	head = append(head, "Connection: Upgrade\r\n\r\n"...)
	serve := t.answer.TakeOver
	t.takeOver(func(c net.Conn) { serve(c, head) })
}

// untilClose sends content of unknown length to an HTTP/1.0 client, which knows
// no chunks: the end of the connection is the end of the content (RFC 9112 section
// 6.3). fasthttp would send chunks all the same, so the connection is taken over.
func (t *turn) untilClose() {
	head := append(t.appendStart(), t.answer.Lines...)
	head = append(head, "Connection: close\r\n\r\n"...)
	t.block = head
	t.takeOver(func(conn net.Conn) {
		defer t.end()
		if idle := t.server.o.WriteIdleTimeout; idle > 0 {
			_ = conn.SetWriteDeadline(now().Add(idle))
		}
		if _, err := conn.Write(head); err != nil {
			return
		}
		if _, err := writePieces(conn, t.answer.Content); err != nil {
			reset(t.request.Conn)
		}
	})
}
