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
// for a request. A turn is the value of a counter and not a time: reading the clock would cost each
// request more than all the rest here.
const (
	busy    = 0  // a request is under way
	dropped = -1 // it was dropped, or has ended
)

// silentGrace is how long a new connection may send nothing before it counts as idle:
// the time of some round trips.
const silentGrace = 2 * time.Second

// limitedConn is a connection of a ConnLimiter.
type limitedConn struct {
	conn       net.Conn     // bare
	tcp        *net.TCPConn // the same; nil: another kind
	acceptedAt time.Time
	client     netip.Prefix
	known      bool // the client has an address, which is in who
	hasRequest bool // a byte of a request has come; belongs to the goroutine that serves the connection
	state      atomic.Int64

	next  atomic.Pointer[limitedConn] // next connection of its slot in the connTable
	place *silentEntry[*limitedConn]  // until its first request; like at, guarded by ConnLimiter.mu
	at    [2]int                      // its index in the sets of both kinds
}

// dropIfIdle drops m if it has waited for a request since that turn, and reports whether it did.
func (m *limitedConn) dropIfIdle(since int64) bool {
	return since > busy && m.state.CompareAndSwap(since, dropped)
}

// The kinds of connSet.
const (
	ofAll = iota
	ofClient
)

// connSet is a set of connections. Its ConnLimiter locks it.
type connSet struct {
	kind       int
	conns      []*limitedConn
	candidates []candidate // candidates of the last scan, the one that has waited for longest at the end
	nextScan   time.Time   // no scan before that time
}

// candidate is a connection that had waited for a request since that turn at the time of the scan.
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

// A scan of a set takes a few nanoseconds for each connection. So it keeps candidates for
// further drops: minCandidates, or one in minCandidates of all connections if that is more. When no
// candidate is left, the next scan waits scanPause for each connection: 33 ms for 65,536.
const (
	minCandidates = 64
	scanPause     = 500 * time.Nanosecond
)

// dropLongestIdle drops the connection that has waited for a request for longest, and returns
// it; nil if none waits.
func (r *connSet) dropLongestIdle(now time.Time) *limitedConn {
	if m := r.dropCandidate(); m != nil || now.Before(r.nextScan) {
		return m
	}
	r.nextScan = now.Add(time.Duration(len(r.conns)) * scanPause)
	r.scan(now)
	return r.dropCandidate()
}

// dropCandidate drops the first candidate that has had no request since the scan.
func (r *connSet) dropCandidate() *limitedConn {
	for len(r.candidates) > 0 {
		last := len(r.candidates) - 1
		one := r.candidates[last]
		r.candidates[last] = candidate{}
		r.candidates = r.candidates[:last]
		if one.dropIfIdle(one.since) {
			return one.limitedConn
		}
	}
	return nil
}

// scan makes the connections that have waited for longest the candidates.
func (r *connSet) scan(now time.Time) {
	most := max(minCandidates, len(r.conns)/minCandidates)
	for _, m := range r.conns {
		since := m.state.Load()
		if since <= busy || m.place.inSet() && now.Sub(m.acceptedAt) < silentGrace {
			continue
		}
		if r.candidates = append(r.candidates, candidate{m, since}); len(r.candidates) >= 2*most {
			r.keep(most)
		}
	}
	r.keep(most)
	slices.Reverse(r.candidates)
}

// keep sorts the candidates and keeps the most that have waited for longest.
func (r *connSet) keep(most int) {
	slices.SortFunc(r.candidates, func(a, b candidate) int { return cmp.Compare(a.since, b.since) })
	if len(r.candidates) > most {
		clear(r.candidates[most:])
		r.candidates = r.candidates[:most]
	}
}
