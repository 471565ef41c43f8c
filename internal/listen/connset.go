package listen

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// The state of a limitedConn is one of these, or the turn, above 0, at which it began to wait
// for a request. A turn is a count and not a time: reading the clock would cost each request
// more than all the rest here.
const (
	busy = 0  // a request is under way
	gone = -1 // it was let go, or has left
)

// silentGrace is for how long a new connection may say nothing before it counts as idle:
// the time of some round trips.
const silentGrace = 2 * time.Second

// limitedConn is a connection of a ConnLimiter.
type limitedConn struct {
	conn   net.Conn     // bare
	tcp    *net.TCPConn // the same; nil: another kind
	came   time.Time
	who    netip.Prefix
	known  bool // the client has an address, which is in who
	spoken bool // has sent a byte of a request; belongs to the goroutine that serves the connection
	state  atomic.Int64

	next  atomic.Pointer[limitedConn] // of its slot in the connTable
	place *place[*limitedConn]        // until it has spoken; like at, guarded by ConnLimiter.mu
	at    [2]int                      // in the sets of both kinds
}

// letGo reports whether m still waits for a request since that turn, and is let go now.
func (m *limitedConn) letGo(since int64) bool {
	return since > busy && m.state.CompareAndSwap(since, gone)
}

// The kinds of connSet.
const (
	ofAll = iota
	ofClient
)

// connSet is a set of connections. Its ConnLimiter locks it.
type connSet struct {
	kind  int
	conns []*limitedConn
	idle  []candidate // of the last look, the one that has waited for longest at the end
	again time.Time   // not before that is looked again
}

// candidate is a connection that waited for a request, since that turn, when it was looked at.
type candidate struct {
	*limitedConn
	since int64
}

func (r *connSet) add(m *limitedConn) {
	m.at[r.kind] = len(r.conns)
	r.conns = append(r.conns, m)
}

func (r *connSet) remove(m *limitedConn) {
	last := len(r.conns) - 1
	moved := r.conns[last]
	r.conns[m.at[r.kind]], r.conns[last] = moved, nil
	moved.at[r.kind] = m.at[r.kind]
	r.conns = r.conns[:last]
}

// A look at a set takes time, a few nanoseconds for each connection. So it notes some, for
// those that come next: noted, or that part of all where it is more. And the next look is
// put off by lookPause for each connection, where none is noted: 33 ms for 65,536.
const (
	noted     = 64
	lookPause = 500 * time.Nanosecond
)

// longestIdle lets go of the connection that has waited for a request for longest, and returns
// it; nil where none does.
func (r *connSet) longestIdle(now time.Time) *limitedConn {
	if m := r.nextNoted(); m != nil || now.Before(r.again) {
		return m
	}
	r.again = now.Add(time.Duration(len(r.conns)) * lookPause)
	r.look(now)
	return r.nextNoted()
}

// nextNoted lets go of the first noted connection that has had no request since it was noted.
func (r *connSet) nextNoted() *limitedConn {
	for len(r.idle) > 0 {
		last := len(r.idle) - 1
		one := r.idle[last]
		r.idle[last] = candidate{}
		r.idle = r.idle[:last]
		if one.letGo(one.since) {
			return one.limitedConn
		}
	}
	return nil
}

// look notes the connections that have waited for longest.
func (r *connSet) look(now time.Time) {
	most := max(noted, len(r.conns)/noted)
	for _, m := range r.conns {
		since := m.state.Load()
		if since <= busy || m.place.held() && now.Sub(m.came) < silentGrace {
			continue
		}
		if r.idle = append(r.idle, candidate{m, since}); len(r.idle) >= 2*most {
			r.keep(most)
		}
	}
	r.keep(most)
	slices.Reverse(r.idle)
}

// keep keeps those that have waited for longest, in this order.
func (r *connSet) keep(most int) {
	slices.SortFunc(r.idle, func(a, b candidate) int { return cmp.Compare(a.since, b.since) })
	if len(r.idle) > most {
		clear(r.idle[most:])
		r.idle = r.idle[:most]
	}
}
