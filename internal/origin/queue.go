package origin

import (
	"container/list"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// grant is what a waiter gets: a slot, or a failure and no slot.
type grant struct {
	slot
	failure *Error
}

// waiter is one place in the queue.
type waiter struct {
	ready chan grant // has room for the only grant
	// exclude are the servers that have failed for the request, and failure is the
	// last of these failures. Both are nil for a new request.
	exclude []*server
	failure *Error
	target  uint64        // hash of the request's target; see pool.target
	place   *list.Element // guarded by pool.mu; nil: the grant was sent, the place is gone
}

// enqueueLocked joins the queue for a slot of any server except those in not, which have
// failed. A request that has tried a server stands before those that have tried none: it
// came before them. enqueueLocked reports false if the queue is full.
func (p *pool) enqueueLocked(not []*server, failure *Error, target uint64) (*waiter, bool) {
	if p.waiters.Len() >= p.queueLimit {
		return nil, false
	}
	w := &waiter{ready: make(chan grant, 1), exclude: not, failure: failure, target: target}
	next := p.waiters.Front()
	for not != nil && next != nil && waiterAt(next).exclude != nil {
		next = next.Next()
	}
	if not == nil || next == nil {
		w.place = p.waiters.PushBack(w)
	} else {
		w.place = p.waiters.InsertBefore(w, next)
	}
	p.metrics.queue.Inc()
	return w, true
}

// waiterAt returns the waiter at a place of the queue, in which there is nothing else.
func waiterAt(place *list.Element) *waiter {
	w, _ := place.Value.(*waiter)
	return w
}

// await waits for what w is granted.
func (p *pool) await(ctx context.Context, w *waiter) (slot, *Error) {
	defer markQueued(ctx)()
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	var failure *Error
	select {
	case g := <-w.ready:
		return g.slot, g.failure
	case <-timer.C:
		p.mu.Lock()
		slots, known := p.slotsLocked(time.Now(), w.exclude), len(p.servers) > 0
		p.mu.Unlock()
		failure = p.overload("wait for a connection", fmt.Errorf("none of the %d connections became free within %v", slots, p.wait))
		if !known {
			failure = p.overload("look the servers up", fmt.Errorf("there was no answer within %v", p.wait))
		}
	case <-ctx.Done():
		failure = ended(ctx, p.name, "wait for a connection")
	}
	if p.leave(w) {
		return slot{}, failure
	}
	g := <-w.ready // granted at the same moment
	if g.failure == nil && ctx.Err() != nil {
		p.returnUnused(g.slot)
		return slot{}, failure
	}
	return g.slot, g.failure
}

// Asking is a context that tells whether the request made with it waits in the queue of its origin. It must not be copied.
type Asking struct {
	context.Context //nolint:containedctx // it is one
	// Queued is true while the request waits for a connection that others use.
	Queued atomic.Bool
}

type askingKey struct{}

// Value implements context.Context.
func (a *Asking) Value(key any) any {
	if key == (askingKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// AfterFunc calls that of the inner context, if it has one. So no goroutine is needed for it.
func (a *Asking) AfterFunc(f func()) (stop func() bool) { return afterFunc(a.Context, f) }

// markQueued sets Queued of the Asking in ctx, if there is one, until over is called.
func markQueued(ctx context.Context) (over func()) {
	a, ok := ctx.Value(askingKey{}).(*Asking)
	if !ok {
		return func() {}
	}
	a.Queued.Store(true)
	return func() { a.Queued.Store(false) }
}

// slotsLocked returns the sum of the slots of all servers that neither rest nor are drained, without the servers in not.
func (p *pool) slotsLocked(now time.Time, not []*server) (n int) {
	for _, s := range p.servers {
		if !slices.Contains(not, s) && !s.drained && !p.balancer.Rests(s.index, now) {
			n += s.limit
		}
	}
	return n
}

// leave takes a waiter out of the queue. It reports false if w was served first.
func (p *pool) leave(w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.place == nil {
		return false
	}
	p.removeLocked(w)
	return true
}

func (p *pool) removeLocked(w *waiter) {
	p.waiters.Remove(w.place)
	w.place = nil
	p.metrics.queue.Dec()
}

// returnUnused gives back a slot that a waiter was granted and does not need.
func (p *pool) returnUnused(s slot) {
	if s.c == nil {
		p.free(s.server, netip.Prefix{})
		return
	}
	now := time.Now()
	p.put(s.c, s.c.expires.Sub(now), now)
}

// serveLocked hands out slots in the order of the queue, while there are waiters and slots. A
// waiter that has tried all free servers does not hold up those behind it.
func (p *pool) serveLocked(now time.Time) {
	for next := p.waiters.Front(); next != nil; {
		w := waiterAt(next)
		next = next.Next()
		s, ok := p.chooseLocked(now, w.exclude, w.target)
		if ok {
			p.grantLocked(w, grant{slot: s})
		} else if w.exclude == nil {
			return
		}
	}
}

// failAllLocked fails every waiter, as an overload.
func (p *pool) failAllLocked(op string, err error) {
	for first := p.waiters.Front(); first != nil; first = p.waiters.Front() {
		p.grantLocked(waiterAt(first), grant{failure: p.overload(op, err)})
	}
}

// failExhaustedLocked fails the waiters that have no server left to try, with their last failure.
func (p *pool) failExhaustedLocked(now time.Time) {
	for next := p.waiters.Front(); next != nil && waiterAt(next).exclude != nil; {
		w := waiterAt(next)
		next = next.Next()
		if !p.balancer.Left(now, p.loadsLocked(w.exclude)) {
			p.grantLocked(w, grant{failure: w.failure})
		}
	}
}

// grantLocked takes w out of the queue and hands it g. A slot in g stays in use.
func (p *pool) grantLocked(w *waiter, g grant) {
	p.removeLocked(w)
	w.ready <- g // never waits
}
