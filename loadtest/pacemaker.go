package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

const (
	paceEvery = 8 * time.Millisecond // more often than the manager removes a key
	paceAhead = 100                  // keys that exist before the manager starts
	paceWait  = 5 * time.Second      // time limit of one response
	paceStart = 20 * time.Second     // time limit of the start
)

// pacemaker makes the cache manager of an nginx enforce max_size in time.
//
// The manager checks all caches, then sleeps for the shortest time that one of them
// asks for. A cache within its size asks for up to ten seconds, in which a replay
// writes many times max_size. A cache that has just removed manager_files keys asks
// for manager_sleep. So nginx gets a second cache, with no room and manager_files=1.
// The pacemaker adds keys to it, whose responses are never stored, a little more
// often than the manager can remove them.
//
// The manager's first check comes before any key can be added. So the pacemaker adds
// some keys and reloads nginx once, which starts a new manager and keeps the keys.
// Source: ngx_http_file_cache_manager in ngx_http_file_cache.c.
type pacemaker struct {
	conn          *paceConn
	stop, stopped chan struct{}
	err           error // read it only after stopped is closed
}

// startPacemaker returns when the new manager works and only the new worker
// listens. ctx bounds only the start.
func startPacemaker(ctx context.Context, master interface{ Signal(s os.Signal) error }, admin string) (*pacemaker, error) {
	old, err := dialPace(ctx, admin)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	for range paceAhead {
		if err := old.feed(); err != nil {
			return nil, err
		}
	}
	if err := master.Signal(syscall.SIGHUP); err != nil {
		return nil, fmt.Errorf("reload nginx: %w", err)
	}
	if err := old.awaitEnd(ctx); err != nil {
		return nil, fmt.Errorf("reload nginx: %w", err)
	}
	conn, err := dialPace(ctx, admin)
	if err != nil {
		return nil, err
	}
	p := &pacemaker{conn: conn, stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.run()
	return p, nil
}

func (p *pacemaker) run() {
	defer close(p.stopped)
	defer p.conn.Close()
	tick := time.NewTicker(paceEvery)
	defer tick.Stop()
	for p.err == nil {
		select {
		case <-tick.C:
			p.err = p.conn.feed()
		case <-p.stop:
			return
		}
	}
}

// Close stops the pacemaker. An error means that it stopped before: the cache may
// have outgrown its size.
func (p *pacemaker) Close() error {
	close(p.stop)
	<-p.stopped
	return p.err
}

// paceConn is a connection that adds keys.
type paceConn struct {
	net.Conn
	br *bufio.Reader
}

func dialPace(ctx context.Context, admin string) (*paceConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", admin)
	if err != nil {
		return nil, fmt.Errorf("feed nginx's cache manager: %w", err)
	}
	return &paceConn{Conn: conn, br: bufio.NewReader(conn)}, nil
}

// feed adds one key.
func (c *paceConn) feed() error {
	_ = c.SetDeadline(time.Now().Add(paceWait))
	if _, err := io.WriteString(c, "GET /pace HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return fmt.Errorf("feed nginx's cache manager: %w", err)
	}
	resp, err := http.ReadResponse(c.br, nil)
	if err != nil {
		return fmt.Errorf("feed nginx's cache manager: %w", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("feed nginx's cache manager: status %s", resp.Status)
	}
	return nil
}

// awaitEnd waits until nginx closes the connection. A replaced worker does that
// after it has stopped listening.
func (c *paceConn) awaitEnd(ctx context.Context) error {
	_ = c.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_, err := c.br.ReadByte()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the old worker did not stop: %w", err)
	}
	return nil
}
