package dial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// network is addresses that answer in their own ways.
type network struct {
	mu    sync.Mutex
	hosts map[string]host // hosts under HOST:PORT; others hang until the context ends
	tried []string
	open  int // connections that are not closed
}

// host answers after a time, with an error if there is one.
type host struct {
	after time.Duration
	err   error
}

var errRefused = errors.New("refused")

func (n *network) connect(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	h, known := n.hosts[address]
	n.tried = append(n.tried, address)
	n.mu.Unlock()
	if !known {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(h.after) // virtual; a connection that is made just as the context ends
	if h.err != nil {
		return nil, h.err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	return &conn{n: n, address: address}, nil
}

type conn struct {
	net.Conn
	n       *network
	address string
}

func (c *conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.n.open--
	return nil
}

// resolver answers as it is told to.
type resolver struct {
	mu    sync.Mutex
	addrs []netip.Addr
	err   error
	hangs bool
	ttl   time.Duration // 0: it does not say
	asked int
}

func (r *resolver) lookup(ctx context.Context, _ string) ([]netip.Addr, time.Duration, error) {
	r.mu.Lock()
	r.asked++
	addrs, ttl, err, hangs := r.addrs, r.ttl, r.err, r.hangs
	r.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	return addrs, ttl, err
}

func (r *resolver) set(addrs string, err error, hangs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addrs, r.err, r.hangs = addresses(addrs), err, hangs
}

func (r *resolver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// dialTo dials app.test within three seconds and returns the address that
// answered, and how long it took.
func dialTo(t *testing.T, d *Dialer) (address string, took time.Duration, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begun := time.Now()
	c, err := d.Dial(ctx, "tcp", "app.test:80")
	if err == nil {
		address = c.(*conn).address
		c.Close()
	}
	return address, time.Since(begun), err
}

// wantDial compares.
func wantDial(t *testing.T, d *Dialer, address string, took time.Duration) {
	t.Helper()
	got, after, err := dialTo(t, d)
	if err != nil || got != address || after != took {
		t.Errorf("got %q after %v and error %v, want %q after %v", got, after, err, address, took)
	}
}
