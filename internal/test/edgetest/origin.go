package edgetest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Origin plays a script on every connection it is given, and counts.
type Origin struct {
	// Address is where it listens.
	Address string

	listener net.Listener
	script   func(*Conn)
	requests atomic.Int64

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	ended  sync.WaitGroup
}

// StartOrigin runs an origin on l until the end of the test; nil is a free port
// of the loopback address. script is run for each connection, which is closed
// when it returns. At the end of the test every connection is closed, and the
// scripts must return.
func StartOrigin(tb testing.TB, l net.Listener, script func(*Conn)) *Origin {
	tb.Helper()
	if l == nil {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			tb.Fatal(err)
		}
	}
	o := &Origin{Address: l.Addr().String(), listener: l, script: script, conns: map[net.Conn]struct{}{}}
	o.ended.Go(o.accept)
	tb.Cleanup(o.stop)
	return o
}

// Requests returns how many requests have been read.
func (o *Origin) Requests() int { return int(o.requests.Load()) }

func (o *Origin) accept() {
	for {
		c, err := o.listener.Accept()
		if err != nil {
			return
		}
		if !o.keep(c) {
			_ = c.Close()
			return
		}
		o.ended.Go(func() {
			o.script(&Conn{Conn: c, origin: o, r: bufio.NewReader(c)})
			_ = c.Close()
			o.mu.Lock()
			delete(o.conns, c)
			o.mu.Unlock()
		})
	}
}

func (o *Origin) keep(c net.Conn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.conns[c] = struct{}{}
	}
	return !o.closed
}

func (o *Origin) stop() {
	_ = o.listener.Close()
	o.mu.Lock()
	o.closed = true
	for c := range o.conns {
		_ = c.Close()
	}
	o.mu.Unlock()
	o.ended.Wait()
}

// Conn is the origin's end of one connection.
type Conn struct {
	net.Conn
	origin *Origin
	r      *bufio.Reader
}

// Request is a request as it came, its body read.
type Request struct {
	*http.Request
	Content string
}

// Next reads the next request; nil once there is none.
func (c *Conn) Next() *Request {
	r, err := http.ReadRequest(c.r)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	c.origin.requests.Add(1)
	return &Request{Request: r, Content: string(body)}
}

// Rest is what comes behind the requests read so far.
func (c *Conn) Rest() io.Reader { return c.r }

// Say writes s as it is and reports whether that worked.
func (c *Conn) Say(s string) bool {
	_, err := io.WriteString(c.Conn, s)
	return err == nil
}

// UntilClosed waits for the other end to close.
func (c *Conn) UntilClosed() { _, _ = io.Copy(io.Discard, c.r) }
