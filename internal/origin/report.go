package origin

import (
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/origin/balance"
)

// report tells the balancer how a request to a server went, and returns what that
// changed.
func (p *pool) report(s slot, t *tried, r *Request) (Change, bool) {
	now, broken := t.at(), t.serverFailed() && t.failure.Kind != Connect
	var target uint64
	if broken {
		target = p.targetOf(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.server.countLocked(t)
	switch {
	case s.server.index < 0:
		return Change{}, false
	case t.failure == nil:
		return p.changedLocked(s.server, nil, p.balancer.Succeeded(s.server.index, s.ticket, now), now)
	case !t.serverFailed():
		return Change{}, false
	}
	var changed bool
	if broken {
		changed = p.balancer.Broke(s.server.index, s.ticket, target, now)
	} else {
		changed = p.balancer.Failed(s.server.index, s.ticket, now)
	}
	p.failUnservableLocked(now) // a trial that failed changes no state, but there may be no server left to wait for
	return p.changedLocked(s.server, t.failure, changed, now)
}

// countLocked counts what came of the last try of a request on s. The caller holds pool.mu.
func (s *server) countLocked(t *tried) {
	switch {
	case t.failure == nil:
		s.lasting.classes[statusclass.Of(t.status())].Add(1)
		s.lasting.waited.Add(int64(t.waited()))
	case t.serverFailed():
		s.lasting.classes[statusclass.None].Add(1)
		s.failure = t.failure
	}
}

// waited is the time from the request to the first byte of its response; with HTTP/2 to its head.
func (t *tried) waited() time.Duration {
	if t.x != nil {
		return t.x.firstByte.Sub(t.x.begun)
	}
	return time.Since(t.stream.begun)
}

// targetOf returns a hash of the target, without the query: a client that makes a server hang
// up with one path could invent as many queries as it likes.
func (p *pool) targetOf(r *Request) uint64 {
	path, _, _ := strings.Cut(r.Target, "?")
	return maphash.String(p.seed, path)
}

// checked tells the balancer what a health check found.
func (p *pool) checked(s *server, failure error) (Change, bool) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.index < 0 {
		return Change{}, false
	}
	s.check = Check{At: now, Err: failure}
	changed := p.balancer.Checked(s.index, failure == nil)
	if changed {
		p.failUnservableLocked(now)
	}
	return p.changedLocked(s, failure, changed, now)
}

// failUnservableLocked fails the waiters that can get no slot any more: all of them while new
// requests are refused, and those that have tried every server that is left.
func (p *pool) failUnservableLocked(now time.Time) {
	if len(p.servers) > 0 && p.balancer.Refuses(now) {
		p.failAllLocked("wait for a connection", ErrAllOut)
	}
	p.failExhaustedLocked(now)
}

// changedLocked serves the waiters if the state of s has changed, and returns the Change.
func (p *pool) changedLocked(s *server, failure error, changed bool, now time.Time) (Change, bool) {
	if !changed {
		return Change{}, false
	}
	p.serveLocked(now)
	c := Change{Server: s.String()}
	if c.State, _ = p.balancer.State(s.index, now); c.State != balance.Up {
		c.Err = failure
	}
	return c, true
}

// onlyBackups adds to tried all servers that are no backups, and reports whether this leaves
// backups, of which none was tried.
func (p *pool) onlyBackups(tried *[]*server) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(*tried, func(s *server) bool { return s.tier > 0 }) {
		return false
	}
	backups := false
	for _, s := range p.servers {
		switch {
		case s.tier > 0:
			backups = true
		case !slices.Contains(*tried, s):
			*tried = append(*tried, s)
		}
	}
	return backups
}

// left reports whether a server that is not among tried is up.
func (p *pool) left(tried []*server) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.balancer.Left(time.Now(), p.loadsLocked(tried))
}

// elsewhere finds a slot of a server that is not among tried, or, if such servers are well
// but full, a place in the queue. failure is that of the last server tried. The caller gives
// the slot that failed back, and then awaits the result. It is nil if there is neither.
func (p *pool) elsewhere(tried []*server, failure *Error, target uint64) *waiter {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if s, ok := p.chooseLocked(now, tried, target); ok {
		w := &waiter{ready: make(chan grant, 1)}
		w.ready <- grant{slot: s}
		return w
	}
	if !p.balancer.Left(now, p.loadsLocked(tried)) {
		return nil
	}
	w, _ := p.enqueueLocked(tried, failure, target)
	return w
}
