package origin

import (
	"bufio"
	"bytes"
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

// AtHand reports whether Read has something to give without a wait: a byte, the end, an error. By HTTP/2, and where there
// is no socket to be looked at, it may say no all the same. It must not run beside Read.
func (r Raw) AtHand() bool {
	b := r.b
	switch {
	case b.over() != nil:
		return true
	case b.stream != nil:
		return false
	case b.gives():
		return true
	}
	return b.c.look() != nil || b.gives()
}

// gives reports whether what was read of the connection has a part of the body in it, or its end.
func (b *Body) gives() bool {
	if b.chunks != nil {
		return b.chunks.gives()
	}
	return b.c.br.Buffered() > 0
}

// look reads into the buffer what has arrived on the connection, and does not wait. It keeps an error for the next read
// too. It reads, and does not peek (MSG_PEEK), since the system reports a reset once: a peek would take it, and the
// next read would find an ordinary end.
func (c *conn) look() error {
	if c.once == nil {
		if c.once = c.turn; c.once == nil {
			c.once = newTurn(c.socket)
		}
		if c.once == nil {
			return nil
		}
	}
	if c.under != nil {
		c.under.once = c.once
		defer func() { c.under.once = nil }()
	} else {
		c.looks = true
		defer func() { c.looks = false }()
	}
	_, err := c.br.Peek(c.br.Buffered() + 1)
	if err == nil || errors.Is(err, errCutOff) || errors.Is(err, bufio.ErrBufferFull) {
		return nil
	}
	c.failed = err
	return err
}

// gives reports whether what was read has data in it, the end of the body, or what is none.
func (c *chunkReader) gives() bool {
	b, _ := c.r.Peek(c.r.Buffered())
	if c.left > 0 {
		return len(b) > 0
	}
	for next := c.next; ; {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			return false
		}
		b = rest
		switch next {
		case chunkDataEnd:
			next = chunkSize
		case chunkSize:
			number, _, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\r")), []byte(";"))
			if n, ok := parseHex(number); !ok || n > 0 {
				return !ok || len(b) > 0
			}
			next = chunkTrailer
		case chunkTrailer:
			if len(line) <= len("\r") {
				return true
			}
		}
	}
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
