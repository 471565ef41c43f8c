package origin

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

// readBufferBytes holds a usual head and a body of up to some 30 KiB in one read: a response that came whole needs no
// goroutine of its own, no shared body and one write to the client (0066, 0107). Reads of a body that are as long go past the
// buffer. Each connection has it, also while it is idle.
const readBufferBytes = 32 << 10

// conn is one connection and what belongs to it. It is used by one attempt at
// a time; only close may be called at any moment.
type conn struct {
	nc              net.Conn // carries the exchanges: the socket, or TLS on it
	socket          net.Conn
	tlsSocket       *tlsSocket // the same under TLS; nil without
	br              *bufio.Reader
	server          *server      // whose slot it is in
	client          netip.Prefix // who holds it, while it is in use
	quiet           func() bool  // reports whether nothing has arrived that was not read; nil: it cannot be known
	noWait          *turn        // the socket's turn, for reads that do not wait; nil: there were none
	readsNoWait     bool         // reads do not wait
	turn            *turn        // nil where there is none, as with TLS
	idle            time.Duration
	end             time.Time // when the exchange has to be over; zero: any time
	deadlinePerRead bool      // each read has a deadline of its own
	reused          bool
	expires         time.Time // when idle
	address         netip.Addr
	ends            time.Time // when it carries no more requests; zero: at no time
	turnDeadline    time.Time // the deadline, where a turn has set it and nothing else since; else zero
	text            []byte    // text of the head being read
	headBytes       int       // length of the last head that was read, the empty line included
	out             []byte    // the bytes being sent
	x               attempt   // the attempt of a Call; else empty
	turnOut         []byte    // not nil: the next read is a turn that sends this first
	failed          error     // what the read of a turn has come to; the next read returns it
	closeFunc       func()    // close; a method value made each time would be an allocation
}

func newConn(nc net.Conn) *conn {
	c := &conn{nc: nc, socket: nc, quiet: socketQuiet(nc), turn: newTurn(nc)}
	c.br = bufio.NewReaderSize(c, readBufferBytes)
	c.closeFunc = c.close
	return c
}

// Read reads the connection, for the buffer above it. The deadline is for writes
// too: TLS may have to answer while it reads.
func (c *conn) Read(p []byte) (int, error) {
	switch err := c.failed; {
	case c.turnOut != nil:
		return c.readTurn(p)
	case err != nil:
		c.failed = nil
		return 0, err
	case c.readsNoWait:
		return c.noWait.readNow(p)
	}
	if c.deadlinePerRead {
		c.turnDeadline = time.Time{}
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

// endedBy returns the error to report for an error of reading.
func (c *conn) endedBy(err error) error {
	switch {
	case errors.Is(err, io.EOF) && c.tlsSocket != nil && c.tlsSocket.ended:
		return io.ErrUnexpectedEOF // TLS was not closed: anybody on the path may have done this
	case c.deadlinePerRead && !c.end.IsZero() && !time.Now().Before(c.end) && kindOf(err) == Timeout:
		return ErrTotal
	}
	return err
}

// readBy returns when a read of a body that begins now has to end.
func (c *conn) readBy(now time.Time) time.Time {
	if by := now.Add(c.idle); c.end.IsZero() || by.Before(c.end) {
		return by
	}
	return c.end
}

// errNoBytes is returned by the read of a turn that has read nothing. It is ignored: the next read returns the
// reason.
var errNoBytes = errors.New("nothing was read")

// takeTurn sends out and waits for bytes, which it reads into the buffer. It reports false if nothing was
// sent. It returns an error of sending. The next read returns any other error.
func (c *conn) takeTurn(out []byte) (begun bool, err error) {
	c.turnOut = out
	_, _ = c.br.Peek(1)
	c.turnOut = nil
	return c.turn.begun, c.turn.sent
}

// readTurn is the read of a turn.
func (c *conn) readTurn(p []byte) (int, error) {
	out := c.turnOut
	c.turnOut = nil
	n, err := c.turn.run(out, p)
	if c.failed = err; n > 0 {
		return n, nil
	}
	return 0, errNoBytes
}

// close ends the connection, and every read and write on it, at once. TLS sends
// no closure alert, because that could wait. The error does not matter: what was
// not proven whole by then is lost anyway.
func (c *conn) close() { _ = c.socket.Close() }

// retire ends a connection that carries no attempt, with the closure alert
// of TLS (RFC 9112 section 9.8).
func (c *conn) retire() { _ = c.nc.Close() }

// prepareIdle prepares the connection to be idle. A deadline that a turn has set stays.
func (c *conn) prepareIdle() error {
	c.deadlinePerRead, c.reused = false, true
	if !c.turnDeadline.IsZero() {
		return nil
	}
	return c.nc.SetDeadline(time.Time{})
}

// setTurnDeadline sets the deadline of a turn that begins now and may take limit. Setting a deadline is dear, so one that
// is at least limit/2 away stays. If it passes early it has to be extended. The deadline is never later than limit, also
// if the turn before had more time.
func (c *conn) setTurnDeadline(now time.Time, limit time.Duration) error {
	if left := c.turnDeadline.Sub(now); left >= limit/2 && left <= limit {
		return nil
	}
	c.turnDeadline = now.Add(limit)
	return c.nc.SetDeadline(c.turnDeadline)
}

// setReadDeadline sets the deadline of reads to at, in place of one that a turn has set.
func (c *conn) setReadDeadline(at time.Time) {
	c.turnDeadline = time.Time{}
	_ = c.nc.SetReadDeadline(at) // an error means that the connection is closed, and reading it will say so
}

// usable reports whether an idle connection may carry a request. Bytes on it
// answer no request of ours, and a later request must not get them. Bytes that
// are still on their way cannot be seen; no pool can prove more.
func (c *conn) usable(now time.Time) bool {
	if !c.turnDeadline.IsZero() {
		c.turnDeadline = time.Time{}
		_ = c.nc.SetDeadline(c.turnDeadline) // if it has passed, nothing could be read to check
	}
	return c.fresh(now) && (c.quiet == nil || c.quiet())
}

// fresh checks all that usable does, except what has arrived on the connection. A turn checks that
// itself.
func (c *conn) fresh(now time.Time) bool { return now.Before(c.expires) && c.br.Buffered() == 0 }

// startable is fresh if the connection has a turn, which checks the rest, and usable otherwise.
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
			return "", malformed("a line of the response head does not end in CRLF")
		}
		if length == 2 {
			c.headBytes = len(c.text)
			return string(c.text[:line]), nil
		}
		line = len(c.text)
	}
}

// takeHead is readHead for a head that is whole in the buffer and whose lines all end in CRLF. end is its
// length with the empty line.
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

func tooLong(limit int) error { return malformed("response head of more than %d bytes", limit) }
