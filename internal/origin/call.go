package origin

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
)

// Call is a request on its way that waits in the goroutine of its owner, and that can be taken to
// another goroutine while it waits: Start, then Ready there, then Finish anywhere. Nudge may be
// called by any goroutine at any time. It must end by Finish or Abandon, or it keeps its slot.
type Call struct {
	origin *Origin
	ctx    context.Context //nolint:containedctx // it is that of RoundTrip, which Start and Finish are together
	over   func()          // gives back what ctx holds
	r      *Request
	slot   slot      // whose connection is fresh, and not known to be usable before x is there
	begun  time.Time // by Start, which waits for nothing
	x      *exchange // once the request was sent; nil: nothing of it was

	mu      sync.Mutex
	waiting bool // Ready reads, and Nudge ends that
	nudged  bool
}

// sentAtOnce is how large a head has a place in the send buffer of any connection that nothing is
// under way on, whatever the origin reads. Nudge cannot break off a write, so none may wait.
const sentAtOnce = 16 << 10

// errAbandoned ends a Call that nobody finishes.
var errAbandoned = errors.New("the request was abandoned")

// Start begins what RoundTrip does, where nothing has to be waited for: a slot is free, and r has no
// body, and it goes by HTTP/1.1. Else it returns nil, and has done nothing.
func (o *Origin) Start(ctx context.Context, r *Request) *Call {
	if r.Body != nil || r.Upgrade != "" || o.options.HTTP2 || ctx.Err() != nil || r.validate() != nil {
		return nil
	}
	r.Trace.begin(r) // RoundTrip begins it anew where this is nil
	now := time.Now()
	s, ok := o.pool.atHand(r.Client, o.pool.target(r), now)
	if !ok {
		return nil
	}
	ctx, over := r.bounded(ctx)
	return &Call{origin: o, ctx: ctx, over: over, r: r, slot: o.pool.usable(s, (*conn).startable, now), begun: now}
}

// Ready sends the request, if there is a connection for it, and waits for the head of the final
// response. It reports true when that is here, so that Finish waits for nothing. It reports false
// where Finish may have to wait: to connect, to send a large head, for what comes behind an interim
// response, to try again, or since Nudge was called.
func (c *Call) Ready() (ready bool) {
	if c.slot.c == nil {
		return false
	}
	x := &c.slot.c.x
	*x = exchange{origin: c.origin, c: c.slot.c, r: c.r}
	c.x = x
	defer func() {
		if v := recover(); v != nil {
			x.fault, ready = c.origin.options.Panics.Caught(v), true
		}
	}()
	if len(x.written()) > sentAtOnce {
		c.x = nil
		return false
	}
	x.release = afterFunc(c.ctx, x.c.closes)
	if !c.send() {
		return false
	}
	ready, err := x.awaitHead()
	if err != nil && c.early(err) {
		ready, err = x.awaitHead()
	}
	unmoved := c.waits(false)
	if ready && unmoved {
		return true
	}
	if unmoved && err != nil && x.c.br.Buffered() == 0 {
		x.waitErr = err
	}
	x.c.bound(c.deadline())
	return ready
}

// send sends the request, and reports whether that went well and nobody has nudged c.
func (c *Call) send() bool {
	x := c.x
	if x.c.turn == nil {
		x.begin()
		return x.sendErr == nil && c.waits(true)
	}
	x.start(c.begun)
	if x.c.hurry(x.begun, x.mayTake()) != nil || !c.waits(true) || !x.turn() {
		c.takeBack()
		return false
	}
	if x.sendErr != nil {
		c.waits(false)
		x.c.bound(c.deadline())
	}
	return x.sendErr == nil
}

// takeBack has c begin anew in Finish: nothing was sent, and the connection may be of no use.
func (c *Call) takeBack() {
	c.waits(false)
	if !c.x.release() {
		c.x.c.close()
	}
	c.x = nil
}

// deadline is when the head has to be here.
func (c *Call) deadline() time.Time { return c.x.begun.Add(c.x.mayTake()) }

// early reports whether err says only that the deadline of earlier turns has passed. Then that of c is
// set.
func (c *Call) early(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nudged || c.x.c.until.IsZero() || kindOf(err) != Timeout || !time.Now().Before(c.deadline()) {
		return false
	}
	c.x.c.bound(c.deadline())
	return true
}

// waits notes whether Ready reads, and reports whether nobody has nudged it.
func (c *Call) waits(now bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = now && !c.nudged
	return !c.nudged
}

// Nudge has Ready return, if it waits or is going to.
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
	if c.x == nil { // no turn has looked at the connection
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
	if c.slot.c != nil {
		c.slot.c.close()
	}
	failure := c.origin.fail(Canceled, "wait for the response", errAbandoned)
	c.origin.giveUp(c.slot, tried{failure: failure}, c.r)
	c.origin.pool.quit(c.r.Client)
	c.r.Trace.failed(failure)
}

// awaitHead waits until the head of a response is in the buffer, and takes nothing out of it. It
// reports false where what follows may have to wait: an interim response, a head larger than the
// buffer, or a failure, which is returned.
func (x *exchange) awaitHead() (here bool, err error) {
	br := x.c.br
	for line, seen := 0, 0; ; seen = br.Buffered() {
		if br.Buffered() == seen { // else a turn has read something
			if _, err := br.Peek(seen + 1); err != nil {
				return false, err
			}
		}
		text, _ := br.Peek(br.Buffered())
		x.whole = time.Now()
		if x.peeked.IsZero() {
			x.peeked = x.whole
		}
		for {
			end := bytes.IndexByte(text[line:], '\n')
			if end < 0 {
				break
			}
			if end == 0 || text[line+end-1] != '\r' {
				return true, nil // malformed, which nobody has to wait for
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
