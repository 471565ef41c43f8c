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
	paceEvery = 8 * time.Millisecond // oftener than the manager takes a key
	paceAhead = 100                  // keys that the manager has before it begins
	paceWait  = 5 * time.Second      // for one answer
)

// pacemaker makes the cache manager of an nginx hold max_size.
//
// The manager looks at all caches, then sleeps as long as the one in the greatest
// hurry wants. A cache within its size wants up to ten seconds, in which a replay
// writes many times its max_size. One that has just given up manager_files keys
// wants manager_sleep. So there is a second cache, without room for anything and
// with manager_files=1, and the pacemaker feeds it a key that is never stored a
// little oftener than the manager can take one.
//
// The manager's first look comes before anybody can feed it, so the pacemaker
// feeds some keys and reloads nginx once, which starts a new manager and keeps the
// keys. Source: ngx_http_file_cache_manager in ngx_http_file_cache.c.
type pacemaker struct {
	conn          *paceConn
	stop, stopped chan struct{}
	err           error // to be read after stopped
}

// startPacemaker returns when the manager is at work and only the new worker
// listens. ctx bounds the start alone.
func startPacemaker(ctx context.Context, master *os.Process, admin string) (*pacemaker, error) {
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

// Close ends the pace. The error says that it ended before, so that the cache may
// have grown over its size.
func (p *pacemaker) Close() error {
	close(p.stop)
	<-p.stopped
	return p.err
}

// paceConn is one connection for feeding keys.
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

// feed makes one key.
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

// awaitEnd waits until nginx closes the connection. A worker that has been
// replaced does that once it no longer listens.
func (c *paceConn) awaitEnd(ctx context.Context) error {
	_ = c.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_, err := c.br.ReadByte()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the old worker goes on: %w", err)
	}
	return nil
}
