package origin

import (
	"bufio"
	"errors"
	"io"
)

// Through puts r between the origin and Read: r reads what the origin sends, by Raw, and Read returns what r returns. The
// ContentLength of the Response does not hold any more; the caller sets it. Framed, Trailers, Took and Trace are still
// about what the origin sends. Close closes r too. The caller calls Through once, before it gives the body to anybody.
func (b *Body) Through(r io.ReadCloser) { b.through = r }

// IsThrough reports whether Through was called.
func (b *Body) IsThrough() bool { return b.through != nil }

// Raw returns what the origin sends, for what Through is given.
func (b *Body) Raw() Raw { return Raw{b} }

// Raw is a body as its origin sends it. One goroutine reads it.
type Raw struct{ b *Body }

// Read is that of Body.
func (r Raw) Read(p []byte) (int, error) { return r.b.read(p) }

// AtHand reports whether Read returns without a wait: a byte, the end or an error is here. By HTTP/2, and on a connection
// that is not a socket, it may report false all the same. It must not run beside Read.
func (r Raw) AtHand() bool {
	b := r.b
	switch {
	case b.over() != nil:
		return true
	case b.stream != nil:
		return false
	case b.hasData():
		return true
	}
	return b.c.readAvailable() != nil || b.hasData()
}

// hasData reports whether the buffer of the connection has a part of the body, or its end.
func (b *Body) hasData() bool {
	if b.chunks != nil {
		return b.chunks.HasData()
	}
	return b.c.br.Buffered() > 0
}

// readAvailable reads into the buffer what has arrived on the connection, and does not wait. It keeps an error for the next read
// too. It reads, and does not peek (MSG_PEEK), since the system reports a reset once: a peek would take it, and the
// next read would find an ordinary end.
func (c *conn) readAvailable() error {
	if c.noWait == nil {
		if c.noWait = c.turn; c.noWait == nil {
			c.noWait = newTurn(c.socket)
		}
		if c.noWait == nil {
			return nil
		}
	}
	if c.tlsSocket != nil {
		c.tlsSocket.noWait = c.noWait
		defer func() { c.tlsSocket.noWait = nil }()
	} else {
		c.readsNoWait = true
		defer func() { c.readsNoWait = false }()
	}
	_, err := c.br.Peek(c.br.Buffered() + 1)
	if err == nil || errors.Is(err, errCutOff) || errors.Is(err, bufio.ErrBufferFull) {
		return nil
	}
	c.failed = err
	return err
}

// takeThrough is TakeHere for a body that is read by way of Through.
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
