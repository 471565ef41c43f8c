package origin

import (
	"container/list"
	"context"
	"fmt"
	"time"
)

// grant is what a waiter gets: a slot, or an error and no slot.
type grant struct {
	slot
	err error
}

// waiter is one place in the queue.
type waiter struct {
	ready  chan grant // has room for the only grant
	served bool       // guarded by pool.mu: the grant was sent, the place is gone
}

// queueLocked joins the queue for a slot and waits. It gives up the lock.
func (p *pool) queueLocked(ctx context.Context) (slot, error) {
	limit := len(p.servers) * p.servers[0].limit
	if p.waiters.Len() >= p.queueLimit {
		p.mu.Unlock()
		return slot{}, p.overload("take a connection", fmt.Errorf(
			"all %d connections are in use and %d requests wait already", limit, p.queueLimit))
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
		return g.slot, g.err
	case <-timer.C:
		err = p.overload("wait for a connection", fmt.Errorf("none of %d became free within %v", limit, p.wait))
	case <-ctx.Done():
		err = &Error{Kind: Canceled, Origin: p.name, Op: "wait for a connection", Err: context.Cause(ctx)}
	}
	if p.leave(place, w) {
		return slot{}, err
	}
	g := <-w.ready // it came at the same moment
	if g.err == nil && ctx.Err() != nil {
		p.handBack(g.slot)
		return slot{}, err
	}
	return g.slot, g.err
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
func (p *pool) handBack(s slot) {
	if s.c == nil {
		p.free(s.server)
		return
	}
	p.put(s.c, time.Until(s.c.expires))
}

// serveLocked hands out slots for as long as somebody waits and there are any.
func (p *pool) serveLocked(now time.Time) {
	for p.waiters.Len() > 0 {
		s, ok := p.chooseLocked(now, nil)
		if !ok {
			return
		}
		p.grantLocked(grant{slot: s})
	}
}

// dismissLocked sends everybody away who waits.
func (p *pool) dismissLocked(op string, err error) {
	for p.grantLocked(grant{err: p.overload(op, err)}) {
	}
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
