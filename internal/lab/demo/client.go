package demo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	connections     = 8 // to each proxy, used in turn
	exchangeTimeout = 5 * time.Second
	// maxIdle is well below the time a proxy keeps a connection: an older one is
	// replaced, so that no request meets one that is just being closed.
	maxIdle = 10 * time.Second
	// maxFailures in a row end the demo: it has nothing left to show.
	maxFailures = 10
)

// client asks one proxy, one request at a time, over connections it keeps. Not
// for concurrent use.
type client struct {
	address string // the proxy's, host:port
	host    string // for the Host field
	links   [connections]link
	asked   int
	failed  int   // requests
	row     int   // failures since the last success
	last    error // the latest failure
	out     []byte
	answer  fasthttp.Response
}

// link is one connection; conn is nil where there is none.
type link struct {
	conn net.Conn
	in   *bufio.Reader
	used time.Time
}

func newClient(address, host string) *client {
	c := &client{address: address, host: host}
	for i := range c.links {
		c.links[i].in = bufio.NewReader(nil)
	}
	return c
}

// ask sends a GET for target and reads the answer to its end. A failure is
// counted; it is an error once there were too many in a row. A request sent is
// finished or timed out, whatever happens: both proxies have to count the same.
func (c *client) ask(target []byte) error {
	l := &c.links[c.asked%connections]
	c.asked++
	err := c.exchange(l, target)
	if err == nil {
		c.row = 0
		return nil
	}
	l.hangUp()
	c.failed++
	c.row++
	c.last = fmt.Errorf("GET http://%s%s: %w", c.address, target, err)
	if c.row < maxFailures {
		return nil
	}
	return fmt.Errorf("%d requests in a row have failed, the last: %w", c.row, c.last)
}

func (c *client) exchange(l *link, target []byte) error {
	if err := l.connect(c.address); err != nil {
		return err
	}
	c.out = append(append(c.out[:0], "GET "...), target...)
	c.out = append(append(c.out, " HTTP/1.1\r\nHost: "...), c.host...)
	c.out = append(c.out, "\r\nUser-Agent: edgeproxy-demo\r\n\r\n"...)
	if _, err := l.conn.Write(c.out); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	c.answer.Reset()
	if err := c.answer.ReadLimitBody(l.in, MaxObjectBytes); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("receive: %w", err)
	}
	l.used = time.Now()
	if c.answer.ConnectionClose() {
		l.hangUp()
	}
	return c.check(objectOf(target))
}

// check tells an answer from that of another object, or from no answer at all.
func (c *client) check(want object) error {
	if status := c.answer.StatusCode(); status != fasthttp.StatusOK {
		return fmt.Errorf("status %d, must be 200 (Cache-Status: %s)", status, c.answer.Header.Peek("Cache-Status"))
	}
	if tag := c.answer.Header.Peek(fasthttp.HeaderETag); string(tag) != want.etag() {
		return fmt.Errorf("ETag %s, must be %s: another object", tag, want.etag())
	}
	if n := len(c.answer.Body()); n != want.bytes {
		return fmt.Errorf("body of %d bytes, must be %d", n, want.bytes)
	}
	return nil
}

// close closes the connections.
func (c *client) close() {
	for i := range c.links {
		c.links[i].hangUp()
	}
}

// connect makes sure that there is a connection, and gives it time for one
// exchange.
func (l *link) connect(address string) error {
	if l.conn != nil && time.Since(l.used) > maxIdle {
		l.hangUp()
	}
	if l.conn == nil {
		conn, err := net.DialTimeout("tcp", address, exchangeTimeout)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		l.conn = conn
		l.in.Reset(conn)
	}
	if err := l.conn.SetDeadline(time.Now().Add(exchangeTimeout)); err != nil {
		return fmt.Errorf("set the deadline: %w", err)
	}
	return nil
}

func (l *link) hangUp() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}
