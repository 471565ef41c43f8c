package origin

import (
	"time"

	"edgeproxy/internal/balance"
)

// report tells the balancer how a try went, and returns what that changed. A
// connection that the origin had given up before says nothing of it, and neither
// does what the caller did.
func (p *pool) report(s slot, failure *Error, stale bool) (Change, bool) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var changed bool
	var cause error
	if failure != nil {
		cause = failure
	}
	switch {
	case failure == nil:
		changed = p.balancer.Succeeded(s.server.index, s.ticket)
	case failure.Kind == Canceled, failure.Kind == BadRequest, stale:
		return Change{}, false
	default:
		changed = p.balancer.Failed(s.server.index, s.ticket, now)
	}
	return p.changedLocked(s.server, cause, changed, now)
}

// checked tells the balancer what a health check found.
func (p *pool) checked(s *server, failure error) (Change, bool) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changedLocked(s, failure, p.balancer.Checked(s.index, failure == nil), now)
}

// changedLocked draws the consequences for those who wait.
func (p *pool) changedLocked(s *server, failure error, changed bool, now time.Time) (Change, bool) {
	if !changed {
		return Change{}, false
	}
	if p.balancer.Refuses(now) {
		p.dismissLocked("wait for a connection", ErrAllOut)
	}
	p.serveLocked(now)
	c := Change{Server: s.Address}
	if c.State, _ = p.balancer.State(s.index, now); c.State != balance.Up {
		c.Err = failure
	}
	return c, true
}

// elsewhere exchanges a slot that was of no use for one of a server that is not
// among tried. It reports false, and leaves the slot as it is, if there is none.
func (p *pool) elsewhere(s slot, tried []*server) (slot, bool) {
	now := time.Now()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return s, false
	}
	other, ok := p.chooseLocked(now, tried)
	if !ok {
		p.mu.Unlock()
		return s, false
	}
	p.freeLocked(s.server)
	p.mu.Unlock()
	return p.usable(other), true
}
