package listen

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// What a member's state is besides the turn at which it began to wait for a request, which
// is above 0. A turn is no time, for reading the clock would cost each request more than
// all the rest here.
const (
	busy = 0  // a request is under way
	gone = -1 // it was let go, or has left
)

// silentGrace is for how long a new connection may say nothing before it counts as idle:
// the time of some round trips.
const silentGrace = 2 * time.Second

// member is a connection of a Crowd.
type member struct {
	conn   net.Conn     // bare
	tcp    *net.TCPConn // the same; nil: another kind
	came   time.Time
	who    netip.Prefix
	known  bool // the client has an address, which is in who
	spoken bool // has sent a byte of a request; belongs to the goroutine that serves the connection
	state  atomic.Int64

	next  atomic.Pointer[member] // of its slot in the roll
	place *place[*member]        // until it has spoken; like at, guarded by Crowd.mu
	at    [2]int                 // in the rosters of both kinds
}

// letGo reports whether m still waits for a request since that turn, and is let go now.
func (m *member) letGo(since int64) bool {
	return since > busy && m.state.CompareAndSwap(since, gone)
}

// The kinds of rosters.
const (
	ofAll = iota
	ofClient
)

// roster is a number of members. Its Crowd locks it.
type roster struct {
	kind    int
	members []*member
	idle    []candidate // of the last look, the one that has waited for longest at the end
	again   time.Time   // not before that is looked again
}

// candidate is a member that waited for a request, since that turn, when it was looked at.
type candidate struct {
	*member
	since int64
}

func (r *roster) add(m *member) {
	m.at[r.kind] = len(r.members)
	r.members = append(r.members, m)
}

func (r *roster) remove(m *member) {
	last := len(r.members) - 1
	moved := r.members[last]
	r.members[m.at[r.kind]], r.members[last] = moved, nil
	moved.at[r.kind] = m.at[r.kind]
	r.members = r.members[:last]
}

// A look at a roster takes time, a few nanoseconds for each member. So it notes some, for
// those that come next: noted, or that part of all where it is more. And the next look is
// put off by lookPause for each member, where none is noted: 33 ms for 65,536.
const (
	noted     = 64
	lookPause = 500 * time.Nanosecond
)

// longestIdle lets go of the member that has waited for a request for longest, and returns
// it; nil where none does.
func (r *roster) longestIdle(now time.Time) *member {
	if m := r.nextNoted(); m != nil || now.Before(r.again) {
		return m
	}
	r.again = now.Add(time.Duration(len(r.members)) * lookPause)
	r.look(now)
	return r.nextNoted()
}

// nextNoted lets go of the first noted member that has had no request since it was noted.
func (r *roster) nextNoted() *member {
	for len(r.idle) > 0 {
		last := len(r.idle) - 1
		one := r.idle[last]
		r.idle[last] = candidate{}
		r.idle = r.idle[:last]
		if one.letGo(one.since) {
			return one.member
		}
	}
	return nil
}

// look notes the members that have waited for longest.
func (r *roster) look(now time.Time) {
	most := max(noted, len(r.members)/noted)
	for _, m := range r.members {
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
func (r *roster) keep(most int) {
	slices.SortFunc(r.idle, func(a, b candidate) int { return cmp.Compare(a.since, b.since) })
	if len(r.idle) > most {
		clear(r.idle[most:])
		r.idle = r.idle[:most]
	}
}
