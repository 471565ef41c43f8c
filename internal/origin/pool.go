package origin

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// pool hands out slots: each allows one connection to exist. A slot is in use
// (being dialled or carrying an exchange), or idle with its connection. Two
// things always hold: slots in use and idle never exceed limit, and while
// anyone waits nothing is idle and no slot is free. So the queue is served in
// order, and nobody overtakes it.
type pool struct {
	name              string
	limit, queueLimit int
	wait              time.Duration
	metrics           *originMetrics

	mu      sync.Mutex
	open    int       // slots in use and idle
	idle    []*conn   // the last one was used last
	waiters list.List // of *waiter, the first to be served in front
	closed  bool
	timer   *time.Timer // runs sweep; nil before the first idle connection
	wakes   time.Time   // when it does; zero: it is not set

	sweeping sync.WaitGroup
}

// take returns an idle connection, or nil and the right to dial one. Either
// way a slot is taken, to be given back by put or free.
func (p *pool) take(ctx context.Context) (*conn, error) {
	slot := false // kept from a connection that was of no use
	for {
		c, err := p.next(ctx, slot)
		if err != nil || c == nil || c.usable(time.Now()) {
			return c, err
		}
		c.retire()
		slot = true
	}
}

// next is one step of take: the connection used last, else the right to dial,
// else a place in the queue. With slot the caller has a slot already.
func (p *pool) next(ctx context.Context, slot bool) (*conn, error) {
	p.mu.Lock()
	switch {
	case p.closed:
		if slot {
			p.freeLocked()
		}
		p.mu.Unlock()
		return nil, &Error{Kind: Overload, Origin: p.name, Op: "take a connection", Err: ErrClosed}
	case len(p.idle) > 0:
		c := p.popLocked()
		if slot {
			p.freeLocked() // c comes with its own
		}
		p.mu.Unlock()
		return c, nil
	case slot:
		p.mu.Unlock()
		return nil, nil
	case p.open < p.limit:
		p.open++
		p.metrics.active.Inc()
		p.mu.Unlock()
		return nil, nil
	}
	return p.queueLocked(ctx)
}

// popLocked takes the idle connection that was used last: the one least likely
// to be closed by the origin, so that those not needed grow old and go.
func (p *pool) popLocked() *conn {
	last := len(p.idle) - 1
	c := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	p.metrics.idle.Dec()
	p.metrics.active.Inc()
	return c
}

// put gives back a slot together with its connection, to be kept for at most
// the given time; not at all if that is 0 or below.
func (p *pool) put(c *conn, keep time.Duration) {
	if keep <= 0 || c.rest() != nil {
		c.retire()
		p.free()
		return
	}
	c.expires = time.Now().Add(keep)
	p.mu.Lock()
	kept := p.keepLocked(c, keep)
	p.mu.Unlock()
	if !kept {
		c.retire()
	}
}

// keepLocked hands c to a waiter or makes it idle, and reports false if it may
// be neither.
func (p *pool) keepLocked(c *conn, keep time.Duration) bool {
	if p.closed {
		p.freeLocked()
		return false
	}
	if p.grantLocked(grant{c: c}) {
		return true
	}
	p.idle = append(p.idle, c)
	p.metrics.active.Dec()
	p.metrics.idle.Inc()
	p.wakeLocked(c.expires, keep)
	return true
}

// free gives back a slot without a connection.
func (p *pool) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freeLocked()
}

func (p *pool) freeLocked() {
	if p.grantLocked(grant{}) {
		return
	}
	p.open--
	p.metrics.active.Dec()
}

// close closes the idle connections and sends the waiters away. Connections in
// use are closed when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.dropIdleLocked(nil, len(idle))
	for p.grantLocked(grant{err: &Error{Kind: Overload, Origin: p.name, Op: "wait for a connection", Err: ErrClosed}}) {
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	for _, c := range idle {
		c.retire()
	}
	p.sweeping.Wait()
}
