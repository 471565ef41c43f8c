package origin

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
)

// Call is a request under way whose wait can be moved to another goroutine. Its owner calls Start and
// Ready. Then any goroutine calls Finish or, to give the request up, Abandon; without these the Call
// keeps its slot. Any goroutine may call Nudge at any time.
type Call struct {
	origin *Origin
	ctx    context.Context //nolint:containedctx // Start and Finish together are RoundTrip, and this is its context
	over   func()          // gives back what ctx holds
	r      *Request
	slot   slot      // its connection has not expired, but was not checked further before x is set
	begun  time.Time // when Start was called
	x      *attempt  // set once the request was sent; nil: nothing was sent

	mu      sync.Mutex
	waiting bool // Ready reads, and Nudge ends that
	nudged  bool
}

// sentAtOnce is the size of a head that fits into the empty send buffer of any connection, also when the
// origin reads nothing. Nudge cannot break off a write, so no write may wait.
const sentAtOnce = 16 << 10

// errAbandoned is the cause of the failure of a Call that was abandoned.
var errAbandoned = errors.New("the request was canceled")

// Start begins what RoundTrip does, if that needs no wait: a slot is free, r has no body, and it goes by
// HTTP/1.1. Otherwise it returns nil, and has done nothing.
func (o *Origin) Start(ctx context.Context, r *Request) *Call {
	if r.Body != nil || r.Upgrade != "" || o.options.HTTP2 || ctx.Err() != nil || r.validate() != nil {
		return nil
	}
	r.Trace.begin(r) // if Start returns nil, RoundTrip begins it again
	now := time.Now()
	s, ok := o.pool.takeIfFree(r.Client, o.pool.target(r), now)
	if !ok {
		return nil
	}
	ctx, over := r.withTotal(ctx)
	return &Call{origin: o, ctx: ctx, over: over, r: r, slot: o.pool.usable(s, (*conn).startable, now), begun: now}
}

// Ready sends the request, if there is a connection for it, and waits for the head of the final
// response. It reports true when the head is here, so that Finish need not wait. It reports false
// if Finish may have to wait: to connect, to send a large head, for the final response after an
// interim one, to try again, or because Nudge was called.
func (c *Call) Ready() (ready bool) {
	if c.slot.c == nil {
		return false
	}
	x := &c.slot.c.x
	*x = attempt{origin: c.origin, c: c.slot.c, r: c.r}
	c.x = x
	defer func() {
		if v := recover(); v != nil {
			x.fault, ready = c.origin.options.Panics.Caught(v), true
		}
	}()
	if len(x.outgoing()) > sentAtOnce {
		c.x = nil
		return false
	}
	x.release = afterFunc(c.ctx, x.c.closeFunc)
	if !c.send() {
		return false
	}
	ready, err := x.awaitHead()
	if err != nil && c.extendDeadline(err) {
		ready, err = x.awaitHead()
	}
	unmoved := c.setWaiting(false)
	if ready && unmoved {
		return true
	}
	if unmoved && err != nil && x.c.br.Buffered() == 0 {
		x.waitErr = err
	}
	x.c.setReadDeadline(c.deadline())
	return ready
}

// send sends the request. It reports whether it was sent and nobody has nudged c.
func (c *Call) send() bool {
	x := c.x
	if x.c.turn == nil {
		x.begin()
		return x.sendErr == nil && c.setWaiting(true)
	}
	x.start(c.begun)
	if x.c.setTurnDeadline(x.begun, x.headLimit()) != nil || !c.setWaiting(true) || !x.turn() {
		c.takeBack()
		return false
	}
	if x.sendErr != nil {
		c.setWaiting(false)
		x.c.setReadDeadline(c.deadline())
	}
	return x.sendErr == nil
}

// takeBack makes Finish begin again: nothing was sent, and the connection may be unusable.
func (c *Call) takeBack() {
	c.setWaiting(false)
	if !c.x.release() {
		c.x.c.close()
	}
	c.x = nil
}

// deadline is when the head has to be here.
func (c *Call) deadline() time.Time { return c.x.begun.Add(c.x.headLimit()) }

// extendDeadline reports whether err comes only from the deadline that an earlier turn set. Then it sets the
// deadline of c.
func (c *Call) extendDeadline(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nudged || c.x.c.turnDeadline.IsZero() || kindOf(err) != Timeout || !time.Now().Before(c.deadline()) {
		return false
	}
	c.x.c.setReadDeadline(c.deadline())
	return true
}

// setWaiting notes whether Ready reads now, and reports whether nobody has nudged it.
func (c *Call) setWaiting(now bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = now && !c.nudged
	return !c.nudged
}

// Nudge makes Ready return, if it waits or is about to.
func (c *Call) Nudge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nudged = true
	if c.waiting {
		c.waiting = false
		_ = c.x.c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// Finish is the rest of RoundTrip.
func (c *Call) Finish() (*Response, error) {
	defer c.over()
	if c.x == nil { // no turn has checked the connection
		c.slot = c.origin.pool.usable(c.slot, (*conn).usable, time.Now())
	}
	return c.origin.finish(c.ctx, c.slot, c.r, c.x)
}

// Abandon gives the request up, in place of Finish.
func (c *Call) Abandon() {
	defer c.over()
	if c.x != nil && c.x.release != nil {
		c.x.release()
	}
	if c.x != nil {
		c.r.Trace.tried(c.slot.server)
		c.r.Trace.unanswered(c.x.begun, time.Time{}) // nobody has read a head
	}
	if c.slot.c != nil {
		c.slot.c.close()
	}
	failure := c.origin.fail(Canceled, "wait for the response", errAbandoned)
	c.origin.giveUp(c.slot, &tried{failure: failure}, c.r)
	c.origin.pool.giveShare(c.r.Client)
	c.r.Trace.failed(failure)
}

// awaitHead waits until the head of a response is in the buffer, and leaves it there. It reports false if
// the caller may have to wait for more: after an interim response, a head larger than the buffer, or a
// failure, which it returns.
func (x *attempt) awaitHead() (here bool, err error) {
	br := x.c.br
	for line, seen := 0, 0; ; seen = br.Buffered() {
		if br.Buffered() == seen { // otherwise a turn has read something
			if _, err := br.Peek(seen + 1); err != nil {
				return false, err
			}
		}
		text, _ := br.Peek(br.Buffered())
		x.headTime = time.Now()
		if x.peeked.IsZero() {
			x.peeked = x.headTime
		}
		for {
			end := bytes.IndexByte(text[line:], '\n')
			if end < 0 {
				break
			}
			if end == 0 || text[line+end-1] != '\r' {
				return true, nil // malformed: Finish sees it without a wait
			}
			if end == 1 {
				x.headEnd = line + len("\r\n")
				return !isInterim(text), nil
			}
			line += end + 1
		}
		if len(text) == br.Size() {
			return false, nil
		}
	}
}

// isInterim reports whether a head begins like that of an interim response.
func isInterim(text []byte) bool {
	const status = len("HTTP/1.1 ")
	return len(text) > status && text[status] == '1'
}
