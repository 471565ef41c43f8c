package origin

import "io"

// Through has Read give what r gives in place of what the origin sends, which r reads from Raw. Who has read from Raw owns
// the length: that of the Response is no longer known unless the caller says so. Framed, Trailers, Took and Trace are still
// about what the origin sends. Close closes r, too. Through may be called once, before anybody else has the body.
func (b *Body) Through(r io.ReadCloser) { b.through = r }

// IsThrough reports whether Through was called.
func (b *Body) IsThrough() bool { return b.through != nil }

// Raw returns what the origin sends, for what Through is given.
func (b *Body) Raw() Raw { return Raw{b} }

// Raw is a body as its origin sends it. One goroutine reads it.
type Raw struct{ b *Body }

// Read is that of Body.
func (r Raw) Read(p []byte) (int, error) { return r.b.read(p) }

// AtHand reports whether Read has something to give without a wait, as far as can be seen: a byte, the end, an error. Over
// TLS what is there may be less than a record. By HTTP/2 nothing can be seen.
func (r Raw) AtHand() bool {
	b := r.b
	switch {
	case b.over() != nil:
		return true
	case b.stream != nil:
		return false
	case b.chunks != nil && b.chunks.arrived(), b.chunks == nil && b.c.br.Buffered() > 0:
		return true
	}
	return b.c.hears()
}

// hears reports whether something has arrived at the socket that was not read. It must not run beside a read.
func (c *conn) hears() bool {
	if c.unread == nil {
		quiet := socketQuiet(c.socket)
		c.unread = func() bool { return quiet != nil && !quiet() }
	}
	return c.unread()
}

// takeThrough is TakeHere of a body that another has read.
func (b *Body) takeThrough(p []byte) bool {
	if _, err := io.ReadFull(b.through, p); err != nil {
		_ = b.Close()
		return false
	}
	var more [1]byte
	n, err := b.through.Read(more[:])
	_ = b.Close()
	return n == 0 && err == io.EOF
}
