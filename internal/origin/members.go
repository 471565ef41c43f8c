package origin

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"time"

	"edgeproxy/internal/origin/balance"
)

// This file says which servers there are. A Server of the options is one, or it is a name that stands for several, which come and go:
// its members.

// Member is one place that a followed Server stands for. It is a server like any other: it has connections, health checks and an ejection of its own.
type Member struct {
	Address string // the host:port to dial; each member has another one
	Name    string // for people; "" is Address
	Weight  int    // relative to the other members; 1 or more. The weight of the Server multiplies it
	// Tier is 0, or says that it gets requests only while no member of a lower one can have them; below backupTier.
	Tier int
}

// String returns the name for people.
func (m *Member) String() string { return cmp.Or(m.Name, m.Address) }

// backupTier is the tier of a Server that is a backup, and the first one of its members.
const backupTier = 1 << 10

// tierOf returns the tier of a server, or of its member.
func tierOf(s Server, member int) int {
	if s.Backup {
		return backupTier + member
	}
	return member
}

// validateFollowed returns what is wrong with a server that is followed.
func (s *Server) validateFollowed() error {
	if s.TLS != nil && s.TLS.ServerName == "" {
		if _, _, err := net.SplitHostPort(s.Address); err != nil {
			return errors.New("TLS of " + s.Address + ": needs a server name: its address has no port")
		}
	}
	return nil
}

// setMembers replaces the members of the server with this index in Options.Servers. failure is why none are known; then those of before
// stay.
func (o *Origin) setMembers(source int, members []Member, failure error) {
	if len(members) == 0 {
		o.pool.lookupFailed(source, failure)
		return
	}
	joined, left, idle := o.pool.replace(source, members, func(m Member) *server { return o.member(source, m) })
	for _, s := range joined {
		o.begin(s)
	}
	for _, s := range left {
		o.end(s)
	}
	for _, c := range idle {
		c.retire()
	}
}

// member returns a server for m.
func (o *Origin) member(source int, m Member) *server {
	s := &server{Server: o.options.Servers[source], source: source, name: m.Name, limit: o.options.MaxConnections}
	s.Address, s.Authority = m.Address, s.authority()
	s.lasting = o.before.take(s.String())
	if s.TLS != nil {
		s.TLS = s.TLS.Clone()
		s.TLS.ClientSessionCache = tls.NewLRUClientSessionCache(maxSessions) // other members may not know a session of this one
	}
	o.prepare(s)
	return s
}

// prepare makes s ready for requests.
func (o *Origin) prepare(s *server) {
	if o.options.HTTP2 {
		s.h2 = newH2Conns(o, s)
	}
}

// begin starts what goes on for s beside requests: health checks, and the watch of its name.
func (o *Origin) begin(s *server) {
	o.beside.Lock()
	defer o.beside.Unlock()
	if !o.alone && !s.over {
		s.stops = []func(){o.checks.start(s), o.watch(s)}
	}
}

// end ends what begin started, and the connections of HTTP/2 that have no request.
func (o *Origin) end(s *server) {
	o.beside.Lock()
	s.over = true
	for _, stop := range s.stops {
		stop()
	}
	o.beside.Unlock()
	if s.h2 != nil {
		s.h2.retire()
	}
}

// endBeside ends all that goes on beside requests.
func (o *Origin) endBeside() {
	for _, stop := range o.follows {
		stop()
	}
	o.beside.Lock()
	o.alone = true
	o.pool.mu.Lock()
	all := o.pool.servers
	o.pool.mu.Unlock()
	for _, s := range all {
		for _, stop := range s.stops {
			stop()
		}
	}
	o.beside.Unlock()
	o.checks.close()
}

// replace replaces the members of a source. It returns the servers that are new, those that are members no more, and their idle connections.
func (p *pool) replace(source int, members []Member, create func(Member) *server) (joined, left []*server, idle []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.retired {
		return nil, nil, nil
	}
	delete(p.unknown, source)
	all, was := p.others(nil, nil, func(s *server) bool { return s.source < source })
	for _, m := range members {
		i := slices.IndexFunc(p.servers, func(s *server) bool { return s.source == source && s.Address == m.Address && s.name == m.Name })
		var s *server
		if i >= 0 {
			s = p.servers[i]
		} else {
			s = create(m)
			joined = append(joined, s)
		}
		s.share, s.tier = m.Weight, tierOf(s.Server, m.Tier)
		all, was = append(all, s), append(was, i)
	}
	all, was = p.others(all, was, func(s *server) bool { return s.source > source })
	for i, s := range p.servers {
		if !slices.Contains(was, i) {
			left = append(left, s)
		}
	}
	p.setLocked(all, was)
	return joined, left, p.dropLocked(left)
}

// others appends the servers that are in, and their indexes.
func (p *pool) others(all []*server, was []int, in func(*server) bool) ([]*server, []int) {
	for i, s := range p.servers {
		if in(s) {
			all, was = append(all, s), append(was, i)
		}
	}
	return all, was
}

// setLocked replaces the servers. was has the index that each of them had, -1 for a new one; nil is new ones alone.
func (p *pool) setLocked(all []*server, was []int) {
	known := make([]balance.Server, len(all))
	for i, s := range all {
		s.index = i
		known[i] = balance.Server{Weight: s.weight(), Tier: s.tier, Name: s.Address}
	}
	p.servers, p.loads = all, make([]balance.Load, len(all))
	p.balancer.Set(known, was)
	for i, s := range all {
		s.drained = p.drains.has(s.String())
		p.balancer.Drain(i, s.drained)
	}
}

// dropLocked takes servers that are members no more out of use, and gives what has come in their place to the waiters. It returns their
// idle connections, which the caller closes.
func (p *pool) dropLocked(left []*server) (idle []*conn) {
	for _, s := range left {
		s.index = -1
		idle = append(idle, s.idle...)
		p.dropIdleLocked(s, nil)
	}
	p.gone = append(p.gone, left...)
	p.leavingLocked()
	now := time.Now()
	p.serveLocked(now)
	p.failExhaustedLocked(now)
	return idle
}

// leavingLocked returns how many connections to servers that are members no more are in use, and forgets those that have none.
func (p *pool) leavingLocked() (n int) {
	p.gone = slices.DeleteFunc(p.gone, func(s *server) bool {
		in := s.open + s.upgraded + s.h2.count()
		n += in
		return in == 0
	})
	return n
}

// lookupFailed notes that the members of a source could not be looked up. If no server is known at all, nobody waits for one.
func (p *pool) lookupFailed(source int, failure error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, unknown := p.unknown[source]; !unknown {
		return
	}
	p.unknown[source] = failure
	if f := p.unresolvedLocked(); f != nil {
		for first := p.waiters.Front(); first != nil; first = p.waiters.Front() {
			again := *f // each caller adds to its own
			p.grantLocked(waiterAt(first), grant{failure: &again})
		}
	}
}

// unresolvedLocked returns a failure if no server is known because no name could be looked up. Nil: a server is known, or may be soon.
func (p *pool) unresolvedLocked() *Error {
	if len(p.servers) > 0 {
		return nil
	}
	var failure error
	for _, err := range p.unknown {
		if failure = err; err == nil {
			return nil
		}
	}
	return &Error{Kind: Connect, Origin: p.name, Op: "look the servers up", Err: failure}
}

// hopelessLocked returns a failure if there is no use in waiting for a slot. Nil: there is.
func (p *pool) hopelessLocked(now time.Time) *Error {
	if len(p.servers) == 0 {
		return p.unresolvedLocked()
	}
	if p.balancer.Refuses(now) {
		return p.overload("choose a server", ErrAllOut)
	}
	return nil
}
