package origin

import (
	"cmp"
	"net/netip"
	"sync/atomic"
	"time"

	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/origin/balance"
)

// server is one server and the connections to it.
type server struct {
	Server
	source int    // index in Options.Servers
	name   string // for people; "" is Address
	index  int    // in pool.servers; -1: it is a member no more, and gets no requests; guarded by pool.mu
	tier   int    // for the balancer; guarded by pool.mu
	share  int    // weight of a member, relative to the others; 0 is 1; guarded by pool.mu
	limit  int
	h2     *h2Conns                     // nil: it is asked by HTTP/1.1
	left   atomic.Pointer[[]netip.Addr] // addresses that its name had; nil: none

	open     int     // slots in use and idle; guarded by pool.mu
	idle     []*conn // the last one was used last; guarded by pool.mu
	upgraded int     // connections that speak another protocol, in no slot; guarded by pool.mu

	lasting *lasting // what came of requests
	drained bool     // an operator wants it to get no requests; guarded by pool.mu
	failure *Error   // the last one that counted against the server; nil: none yet; guarded by pool.mu
	check   Check    // the last one; guarded by pool.mu

	stops []func() // end what goes on beside requests; guarded by Origin.beside
	over  bool     // nothing is started for it any more; guarded by Origin.beside
}

// weight returns that for the balancer. The caller holds pool.mu.
func (s *server) weight() int { return s.Weight * max(s.share, 1) }

// String returns the name for people.
func (s *server) String() string { return cmp.Or(s.name, s.Address) }

// slot is the right to have one connection to a server.
type slot struct {
	server *server
	c      *conn // to be used; nil: one is to be made
	ticket balance.Ticket
}

// Change says that a server was taken out or brought back.
type Change struct {
	Server string // its address, or its name if it is a member
	State  balance.State
	// Err is the failure of the last request or check. It is nil when the server is up, and
	// when one of two reasons has ended but the server is still out for the other.
	Err error
}

// Check is what a health check found. Those that failed for a reason of this machine are none.
type Check struct {
	At  time.Time // when it ended; zero: there was none
	Err error     // nil: the server is well
}

// ServerStats is what one server does now.
type ServerStats struct {
	Address string // address, or the name of a member
	State   balance.State
	// EjectedFor is how long until its next trial, if it is ejected.
	EjectedFor   time.Duration
	Weight       int
	Backup       bool
	Active, Idle int // connections, those being made included
	Upgraded     int // upgraded connections, which speak another protocol now, beyond the limit of the others
	HTTP2        int // connections of HTTP/2; if there are any, Active counts requests, and none is Idle
	// Classes are the responses by the classes of their statuses, since there has been a server of this name. A request that was given to it, and to which it
	// gave no answer by its own fault, is counted under None. A try that was repeated on it counts once, with the last one.
	Classes statusclass.Counts
	// Waited is the sum of the times to the first byte of the responses that Classes has, without None.
	Waited  time.Duration
	Check   Check  // the last health check
	Failure *Error // why it has given no answer the last time that it gave none; nil: it always has
}

// Stats is what an Origin does now.
type Stats struct {
	Name    string
	Waiting int // requests in the queue
	Leaving int // connections in use to servers that are members no more, and are not among Servers
	Servers []ServerStats
}

// Quiet reports whether the origin has neither requests nor connections.
func (s Stats) Quiet() bool {
	quiet := s.Waiting == 0 && s.Leaving == 0
	for _, v := range s.Servers {
		quiet = quiet && v.Active == 0 && v.Idle == 0 && v.Upgraded == 0 && v.HTTP2 == 0
	}
	return quiet
}

// Stats returns what the origin does at now.
func (o *Origin) Stats(now time.Time) Stats {
	p := o.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Stats{Name: o.options.Name, Waiting: p.waiters.Len(), Leaving: p.leavingLocked()}
	for _, s := range p.servers {
		state, left := p.balancer.State(s.index, now)
		out.Servers = append(out.Servers, ServerStats{
			Address: s.String(), State: state, EjectedFor: left, Weight: s.weight(), Backup: s.tier > 0,
			Active: s.open - len(s.idle), Idle: len(s.idle), Upgraded: s.upgraded, HTTP2: s.h2.count(), Classes: s.lasting.classes.counts(), Failure: s.failure,
			Waited: time.Duration(s.lasting.waited.Load()), Check: s.check,
		})
	}
	return out
}
