package origin

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

// readBufferBytes holds a usual head and a small body in one read. Larger reads
// of a body go past the buffer.
const readBufferBytes = 16 << 10

// conn is one connection and what belongs to it. It is used by one exchange at
// a time; only close may be called at any moment.
type conn struct {
	nc        net.Conn // what carries the exchanges: the socket, or TLS on it
	socket    net.Conn
	under     *tlsSocket // the same under TLS; nil without
	br        *bufio.Reader
	server    *server      // whose slot it is in
	client    netip.Prefix // who holds it, while it is in use
	quiet     func() bool  // nothing has arrived that was not read; nil where that cannot be asked
	once      *turn        // of the socket, for reads that do not wait; nil: there were none
	looks     bool         // reads do not wait
	turn      *turn        // nil where there is none, as with TLS
	idle      time.Duration
	end       time.Time // when the exchange has to be over; zero: any time
	rolling   bool      // each read has a deadline of its own
	reused    bool
	expires   time.Time // when idle
	until     time.Time // the deadline, where a turn has set it and nothing else since; else zero
	text      []byte    // of the head being read
	headBytes int       // of the last head that was read, the empty line included
	out       []byte    // the head being sent
	x         exchange  // that of a Call; empty else
	turns     []byte    // not nil: the next read is a turn that sends this first
	failed    error     // what the read of a turn has come to; the next read returns it
	closes    func()    // close; a method value made each time would be an allocation
}

func newConn(nc net.Conn) *conn {
	c := &conn{nc: nc, socket: nc, quiet: socketQuiet(nc), turn: newTurn(nc)}
	c.br = bufio.NewReaderSize(c, readBufferBytes)
	c.closes = c.close
	return c
}

// Read reads the connection, for the buffer above it. The deadline is for writes
// too: TLS may have to answer while it reads.
func (c *conn) Read(p []byte) (int, error) {
	switch err := c.failed; {
	case c.turns != nil:
		return c.readTurn(p)
	case err != nil:
		c.failed = nil
		return 0, err
	case c.looks:
		return c.once.now(p)
	}
	if c.rolling {
		c.until = time.Time{}
		if err := c.nc.SetDeadline(c.readBy(time.Now())); err != nil {
			return 0, err
		}
	}
	n, err := c.nc.Read(p)
	if err != nil {
		err = c.endedBy(err)
	}
	return n, err
}

// endedBy returns what an error of reading comes to.
func (c *conn) endedBy(err error) error {
	switch {
	case errors.Is(err, io.EOF) && c.under != nil && c.under.ended:
		return io.ErrUnexpectedEOF // TLS was not closed: anybody on the path may have done this
	case c.rolling && !c.end.IsZero() && !time.Now().Before(c.end) && kindOf(err) == Timeout:
		return ErrTotal
	}
	return err
}

// readBy is when a read of a body that begins now has to be over.
func (c *conn) readBy(now time.Time) time.Time {
	if by := now.Add(c.idle); c.end.IsZero() || by.Before(c.end) {
		return by
	}
	return c.end
}

// errNoBytes is what a turn returns that has read nothing. Nobody looks at it: the next read says why.
var errNoBytes = errors.New("nothing was read")

// takeTurn sends out and waits for bytes, which it reads into the buffer. It reports false where nothing was
// sent. The error is of sending. The next read returns any other.
func (c *conn) takeTurn(out []byte) (begun bool, err error) {
	c.turns = out
	_, _ = c.br.Peek(1)
	c.turns = nil
	return c.turn.begun, c.turn.sent
}

// readTurn is the read of a turn.
func (c *conn) readTurn(p []byte) (int, error) {
	out := c.turns
	c.turns = nil
	n, err := c.turn.run(out, p)
	if c.failed = err; n > 0 {
		return n, nil
	}
	return 0, errNoBytes
}

// close ends the connection, and every read and write on it, at once: TLS does
// not take leave, for which it could have to wait. The error is of no use:
// whatever was not proven by then is lost.
func (c *conn) close() { _ = c.socket.Close() }

// retire ends a connection that nothing is under way on, with the closure alert
// that TLS wants (RFC 9112 section 9.8).
func (c *conn) retire() { _ = c.nc.Close() }

// rest prepares the connection for lying idle. A deadline that a turn has set stays.
func (c *conn) rest() error {
	c.rolling, c.reused = false, true
	if !c.until.IsZero() {
		return nil
	}
	return c.nc.SetDeadline(time.Time{})
}

// hurry sets the deadline of a turn that begins now and may take limit. It may be earlier, and is then
// to be put off: a deadline moves once in many turns. It is never later, though the turn before may have had
// more time.
func (c *conn) hurry(now time.Time, limit time.Duration) error {
	if left := c.until.Sub(now); left >= limit/2 && left <= limit {
		return nil
	}
	c.until = now.Add(limit)
	return c.nc.SetDeadline(c.until)
}

// bound sets the deadline of reads to at, and no earlier one is set from then on.
func (c *conn) bound(at time.Time) {
	c.until = time.Time{}
	_ = c.nc.SetReadDeadline(at) // an error means that the connection is closed, and reading it will say so
}

// usable reports whether a connection that lay idle may carry a request. Bytes
// on it are an answer to nothing we asked; a later request must not get them.
// None can be seen that are still under way: no pool can prove more.
func (c *conn) usable(now time.Time) bool {
	if !c.until.IsZero() {
		c.until = time.Time{}
		_ = c.nc.SetDeadline(c.until) // it may have passed, and then nothing could be looked at
	}
	return c.fresh(now) && (c.quiet == nil || c.quiet())
}

// fresh reports whether a turn may find that the connection is usable: all is seen to but what a turn
// looks at.
func (c *conn) fresh(now time.Time) bool { return now.Before(c.expires) && c.br.Buffered() == 0 }

// startable is usable, or fresh where a turn looks at the rest.
func (c *conn) startable(now time.Time) bool {
	if c.turn != nil {
		return c.fresh(now)
	}
	return c.usable(now)
}

// readHead reads one head of at most limit bytes and returns its lines without
// the empty one at the end.
func (c *conn) readHead(limit int) (string, error) {
	c.text = c.text[:0]
	line := 0 // where the current line starts
	for {
		part, err := c.br.ReadSlice('\n')
		if len(c.text)+len(part) > limit {
			return "", tooLong(limit)
		}
		c.text = append(c.text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", cutAt(err)
		}
		length := len(c.text) - line
		if length < 2 || c.text[len(c.text)-2] != '\r' {
			return "", malformed("line in the head does not end in CRLF")
		}
		if length == 2 {
			c.headBytes = len(c.text)
			return string(c.text[:line]), nil
		}
		line = len(c.text)
	}
}

// takeHead is readHead for a head that lies in the buffer up to end, behind the empty line, and whose lines
// end as they should.
func (c *conn) takeHead(end, limit int) (string, error) {
	if end > limit {
		return "", tooLong(limit)
	}
	part, err := c.br.Peek(end)
	if err != nil {
		return "", cutAt(err) // which cannot be
	}
	text := string(part[:end-len("\r\n")])
	c.headBytes, _ = c.br.Discard(end)
	return text, nil
}

func tooLong(limit int) error { return malformed("head of more than %d bytes", limit) }
