package origin

import (
	"container/list"
	"context"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/route/client"
)

// pool hands out slots: each allows one connection to a server to exist. A slot is
// in use (being dialled or carrying an attempt), or idle with its connection.
// Slots of a server in use and idle never exceed its limit. Whenever a slot
// becomes free the queue is served, in order. A new request does not overtake those
// that wait, except for servers that these have tried.
type pool struct {
	name       string
	queueLimit int
	wait       time.Duration
	metrics    *originMetrics
	panics     *rescue.Counter
	seed       maphash.Seed // for the hashes of targets whose requests failed; see targetOf
	retryShare float64      // retries that the budget allows, as a share of requests
	byTarget   bool         // the policy is balance.Hash

	mu       sync.Mutex
	servers  []*server     // replaced as a whole, in the order of Options.Servers
	unknown  map[int]error // indexes in Options.Servers of those whose members are not known: why the last lookup failed, nil if none has ended
	gone     []*server     // servers that are no members any more, and had connections the last time that somebody looked
	balancer *balance.Balancer
	drains   *drains
	loads    []balance.Load // for the balancer, filled anew each time
	waiters  list.List      // requests that wait, each a *waiter, the first to be served in front
	shares   *client.Shares // each client's share of connections in use and waited for
	budget   budget
	closed   bool
	retired  bool        // no connection is kept
	timer    *time.Timer // runs sweep; nil before the first idle connection
	wakes    time.Time   // when it does; zero: it is not set

	sweeping sync.WaitGroup
}

func newPool(o *Options, m *originMetrics, before *legacy) *pool {
	p := &pool{name: o.Name, queueLimit: o.QueueRequests, wait: o.QueueWait, metrics: m, panics: o.Panics, seed: maphash.MakeSeed(), byTarget: o.Balance == balance.Hash, retryShare: o.Retry.Budget, unknown: map[int]error{}, drains: before.drains, shares: client.NewShares(client.Part(o.OriginShare))}
	p.balancer = balance.New(balance.Options{
		Policy: o.Balance, Ejection: o.Ejection, Health: balance.Health{Healthy: o.Health.Healthy, Unhealthy: o.Health.Unhealthy},
	})
	var all []*server
	for i, s := range o.Servers {
		if s.Follow != nil {
			p.unknown[i] = nil
		} else {
			all = append(all, &server{Server: s, source: i, tier: tierOf(s, 0), limit: o.MaxConnections, lasting: before.take(s.Address)})
		}
	}
	p.setLocked(all, nil)
	return p
}

// target returns the hash of the URL that r asks the origin for, by which balance.Hash chooses a server. If the cache may
// answer the request, that is the URL in its key. It is 0 under other policies.
func (p *pool) target(r *Request) uint64 {
	if !p.byTarget {
		return 0
	}
	return balance.HashOf(r.Host, r.Target)
}

// take returns a slot for a request of a client, for a target, with an idle connection or the right to dial
// one. put and free give the slot back, and count one connection less for the client; giveShare
// does only the latter. t notes the wait in the queue, if there was one.
func (p *pool) take(ctx context.Context, who netip.Prefix, target uint64, t *Trace) (slot, *Error) {
	s, failure := p.next(ctx, who, target, t)
	if failure != nil {
		return slot{}, failure
	}
	return p.usable(s, (*conn).usable, time.Now()), nil
}

// next returns a slot, after a wait in the queue if none is free. Its connection was not
// checked yet; see usable.
func (p *pool) next(ctx context.Context, who netip.Prefix, target uint64, t *Trace) (slot, *Error) {
	now := time.Now()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return slot{}, p.overload("take a connection", ErrClosed)
	}
	p.budget.count(now)
	p.serveLocked(now) // an ejection may have ended by time alone; requests that still wait cannot use the slots that are free
	if !p.takeShareLocked(who, now) {
		p.mu.Unlock()
		return slot{}, p.overload("take a connection", ErrShare)
	}
	if s, ok := p.chooseLocked(now, nil, target); ok {
		p.mu.Unlock()
		return s, nil
	}
	if failure := p.hopelessLocked(now); failure != nil {
		p.shares.Give(who)
		p.mu.Unlock()
		return slot{}, failure
	}
	w, ok := p.enqueueLocked(nil, nil, target)
	if !ok {
		p.shares.Give(who)
		p.mu.Unlock()
		return slot{}, p.overload("take a connection", fmt.Errorf(
			"all %d connections are in use, and the queue is full with %d requests", p.slotsLocked(now, nil), p.queueLimit))
	}
	p.mu.Unlock()
	got, failure := p.await(ctx, w)
	t.queued(now)
	if failure != nil {
		p.giveShare(who)
	}
	return got, failure
}

// takeIfFree is next if no wait is needed. Otherwise it takes nothing and reports false.
func (p *pool) takeIfFree(who netip.Prefix, target uint64, now time.Time) (slot, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.waiters.Len() > 0 || !p.takeShareLocked(who, now) {
		return slot{}, false
	}
	s, ok := p.chooseLocked(now, nil, target)
	if ok {
		p.budget.count(now)
	} else {
		p.shares.Give(who)
	}
	return s, ok
}

// chooseLocked takes a slot of the server whose turn it is, but of no server in not.
func (p *pool) chooseLocked(now time.Time, not []*server, target uint64) (slot, bool) {
	i, ticket, ok := p.balancer.Choose(now, p.loadsLocked(not), target)
	if !ok {
		return slot{}, false
	}
	s := slot{server: p.servers[i], ticket: ticket}
	if s.server.tier > 0 {
		p.metrics.backup.Inc()
	}
	if s.c = p.popLocked(s.server); s.c == nil {
		s.server.open++
		p.metrics.active.Inc()
	}
	return s, true
}

// loadsLocked returns what each server carries, good until the next call.
func (p *pool) loadsLocked(not []*server) []balance.Load {
	for i, s := range p.servers {
		inUse := s.open - len(s.idle)
		p.loads[i] = balance.Load{InUse: inUse + s.upgraded, Full: inUse >= s.limit}
	}
	for _, s := range not {
		if s.index >= 0 {
			p.loads[s.index].Not = true
		}
	}
	return p.loads
}

// popLocked takes the idle connection that was used last: the one least likely
// to be closed by the origin, so that those not needed grow old and go. It returns
// nil if there is none.
func (p *pool) popLocked(s *server) *conn {
	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}
	c := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	p.metrics.idle.Dec()
	p.metrics.active.Inc()
	return c
}

// usable returns s with a connection that may accepts, or with none. It closes connections that may
// refuses, and keeps the slot.
func (p *pool) usable(s slot, may func(c *conn, now time.Time) bool, now time.Time) slot {
	for s.c != nil && !may(s.c, now) {
		s.c.retire()
		p.mu.Lock()
		if s.c = p.popLocked(s.server); s.c != nil {
			p.freeLocked(s.server) // it comes with its own
		}
		p.mu.Unlock()
	}
	return s
}

// put gives back a slot together with its connection, to be kept for at most
// the given time; not at all if that is 0 or below. Its client holds one less.
func (p *pool) put(c *conn, keep time.Duration, now time.Time) {
	if keep <= 0 || c.server.isOver(c.address, c.ends, now) || c.prepareIdle() != nil {
		defer p.free(c.server, c.client)
		c.retire()
		return
	}
	if c.expires = now.Add(keep); !c.ends.IsZero() && c.ends.Before(c.expires) {
		c.expires, keep = c.ends, c.ends.Sub(now)
	}
	p.mu.Lock()
	p.shares.Give(c.client)
	c.client = netip.Prefix{}
	kept := !p.closed && !p.retired && c.server.index >= 0 && !c.server.drained
	if kept {
		p.keepLocked(c, keep, now)
	} else {
		p.freeLocked(c.server)
	}
	p.mu.Unlock()
	if !kept {
		c.retire()
	}
}

// keepLocked makes c idle, unless somebody waits for it.
func (p *pool) keepLocked(c *conn, keep time.Duration, now time.Time) {
	s := c.server
	s.idle = append(s.idle, c)
	p.metrics.active.Dec()
	p.metrics.idle.Inc()
	p.serveLocked(now)
	if last := len(s.idle) - 1; last >= 0 && s.idle[last] == c {
		p.wakeLocked(c.expires, keep)
	}
}

// free gives back a slot without a connection. The client who, if it is one, holds one less.
func (p *pool) free(s *server, who netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Give(who)
	p.freeLocked(s)
}

func (p *pool) freeLocked(s *server) {
	s.open--
	p.metrics.active.Dec()
	p.serveLocked(time.Now())
}

// detach takes a connection that has switched to another protocol out of its slot, which is free
// then. The caller calls detached when the connection has ended.
func (p *pool) detach(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Give(c.client)
	s := c.server
	s.upgraded++
	p.metrics.upgraded.Inc()
	p.freeLocked(s)
}

// detached forgets a connection that was taken out and has ended.
func (p *pool) detached(s *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.upgraded--
	p.metrics.upgraded.Dec()
}

// retire closes the idle connections, and has those in use closed when they are given back.
func (p *pool) retire() {
	p.mu.Lock()
	p.retired = true
	idle := p.idleLocked()
	p.mu.Unlock()
	for _, c := range idle {
		c.retire()
	}
	p.retireH2()
}

// retireH2 is retire for the connections of HTTP/2.
func (p *pool) retireH2() {
	p.mu.Lock()
	all := p.servers
	p.mu.Unlock()
	for _, s := range all {
		if s.h2 != nil {
			s.h2.retire()
		}
	}
}

// idleLocked takes out the idle connections.
func (p *pool) idleLocked() (idle []*conn) {
	for _, s := range p.servers {
		idle = append(idle, s.idle...)
		p.dropIdleLocked(s, nil)
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	return idle
}

// close closes the idle connections and sends the waiters away. Connections in
// use are closed when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idleLocked()
	p.failAllLocked("wait for a connection", ErrClosed)
	p.mu.Unlock()
	for _, c := range idle {
		c.retire()
	}
	p.retireH2()
	p.sweeping.Wait()
}

func (p *pool) overload(op string, err error) *Error {
	return &Error{Kind: Overload, Origin: p.name, Op: op, Err: err}
}
