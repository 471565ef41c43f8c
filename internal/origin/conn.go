package origin

import (
	"bufio"
	"errors"
	"net"
	"time"
)

// readBufferBytes holds a usual head and a small body in one read. Larger reads
// of a body go past the buffer.
const readBufferBytes = 16 << 10

// conn is one connection and what belongs to it. It is used by one exchange at
// a time; only close may be called at any moment.
type conn struct {
	nc      net.Conn
	br      *bufio.Reader
	quiet   func() bool // nothing has arrived on the socket; nil where that cannot be asked
	idle    time.Duration
	rolling bool // each read of the socket has a deadline of its own
	reused  bool
	expires time.Time // when idle
	text    []byte    // of the head being read
	out     []byte    // the head being sent
}

func newConn(nc net.Conn, idle time.Duration) *conn {
	c := &conn{nc: nc, quiet: socketQuiet(nc), idle: idle}
	c.br = bufio.NewReaderSize(c, readBufferBytes)
	return c
}

// Read reads the socket, for the buffer above it.
func (c *conn) Read(p []byte) (int, error) {
	if c.rolling {
		if err := c.nc.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
			return 0, err
		}
	}
	return c.nc.Read(p)
}

// close ends the connection, and every read and write on it. The error is of no
// use: whatever was not proven by then is lost.
func (c *conn) close() { _ = c.nc.Close() }

// rest prepares the connection for lying idle.
func (c *conn) rest() error {
	c.rolling, c.reused = false, true
	return c.nc.SetDeadline(time.Time{})
}

// usable reports whether a connection that lay idle may carry a request. Bytes
// on it are an answer to nothing we asked; a later request must not get them.
// None can be seen that are still under way: no pool can prove more.
func (c *conn) usable(now time.Time) bool {
	return now.Before(c.expires) && c.br.Buffered() == 0 && (c.quiet == nil || c.quiet())
}

// readHead reads one head of at most limit bytes and returns its lines without
// the empty one at the end.
func (c *conn) readHead(limit int) (string, error) {
	c.text = c.text[:0]
	line := 0 // where the current line starts
	for {
		part, err := c.br.ReadSlice('\n')
		if len(c.text)+len(part) > limit {
			return "", malformed("head of more than %d bytes", limit)
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
			return string(c.text[:line]), nil
		}
		line = len(c.text)
	}
}
