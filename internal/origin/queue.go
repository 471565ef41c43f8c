package origin

import (
	"container/list"
	"context"
	"fmt"
	"time"
)

// grant is what a waiter gets: a slot, with a connection unless c is nil; or an
// error and no slot.
type grant struct {
	c   *conn
	err error
}

// waiter is one place in the queue.
type waiter struct {
	ready  chan grant // has room for the only grant
	served bool       // guarded by pool.mu: the grant was sent, the place is gone
}

// queueLocked joins the queue for a slot and waits. It gives up the lock.
func (p *pool) queueLocked(ctx context.Context) (*conn, error) {
	if p.waiters.Len() >= p.queueLimit {
		p.mu.Unlock()
		return nil, &Error{Kind: Overload, Origin: p.name, Op: "take a connection", Err: fmt.Errorf(
			"all %d connections are in use and %d requests wait already", p.limit, p.queueLimit)}
	}
	w := &waiter{ready: make(chan grant, 1)}
	place := p.waiters.PushBack(w)
	p.metrics.queue.Inc()
	p.mu.Unlock()

	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	var err error
	select {
	case g := <-w.ready:
		return g.c, g.err
	case <-timer.C:
		err = &Error{Kind: Overload, Origin: p.name, Op: "wait for a connection", Err: fmt.Errorf(
			"none of %d became free within %v", p.limit, p.wait)}
	case <-ctx.Done():
		err = &Error{Kind: Canceled, Origin: p.name, Op: "wait for a connection", Err: context.Cause(ctx)}
	}
	if p.leave(place, w) {
		return nil, err
	}
	g := <-w.ready // it came at the same moment
	if g.err == nil && ctx.Err() != nil {
		p.handBack(g.c)
		return nil, err
	}
	return g.c, g.err
}

// leave takes a waiter out of the queue. It reports false if w was served first.
func (p *pool) leave(place *list.Element, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.served {
		return false
	}
	p.waiters.Remove(place)
	p.metrics.queue.Dec()
	return true
}

// handBack returns what a waiter was granted and has no use for.
func (p *pool) handBack(c *conn) {
	if c == nil {
		p.free()
		return
	}
	p.put(c, time.Until(c.expires))
}

// grantLocked hands g to the first waiter, if there is one. A slot in g stays
// in use.
func (p *pool) grantLocked(g grant) bool {
	first := p.waiters.Front()
	if first == nil {
		return false
	}
	w, _ := p.waiters.Remove(first).(*waiter) // queueLocked puts in nothing else
	w.served = true
	p.metrics.queue.Dec()
	w.ready <- g // never waits
	return true
}
