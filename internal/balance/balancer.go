package balance

import (
	"math"
	"slices"
	"time"
)

// Policy is how the next server is chosen.
type Policy uint8

const (
	// RoundRobin takes the servers in turn, by weight.
	RoundRobin Policy = iota
	// LeastConnections takes the one with the fewest connections in use for its
	// weight, and among equals in turn.
	LeastConnections
	// Hash takes the one that stands first for the target of the request, by weight; see HashOf.
	Hash
)

// Options configure a Balancer. Counts and weights are above 0 unless said
// otherwise.
type Options struct {
	Policy   Policy
	Weights  []int    // one for each server, at least one server
	Backups  []bool   // whether a server is a backup: it gets requests only while no other can have them. Nil is none
	Names    []string // of the servers, each another, for Hash: they say which targets a server has, whatever its place in the list
	Ejection Ejection
	Health   Health
}

// Load is what a server carries when one is chosen.
type Load struct {
	InUse int  // connections in use
	Full  bool // it can take no further one now
	Not   bool // it is out of the question for this request
}

// Ticket numbers the requests given out, in order, from 1.
type Ticket uint64

// Balancer chooses among servers. They are named by their index in
// Options.Weights.
type Balancer struct {
	options Options
	servers []server
	given   Ticket // the last
}

// server is one of them.
type server struct {
	weight  int
	backup  bool
	name    uint64 // a hash of its name
	current int    // of smooth weighted round robin: what it has earned

	failures  int       // to connect, in a row, while not ejected
	recent    recent    // while not ejected
	ejections int       // in a row; 0: not ejected
	until     time.Time // of the ejection, or of the trial
	ejected   Ticket    // the last request given out when it was, also after it is back
	trial     Ticket    // the last that was a trial

	down   bool // by health checks
	streak int  // of checks that say the opposite of down
}

// New returns a Balancer that knows nothing bad of any server.
func New(options Options) *Balancer {
	b := &Balancer{options: options}
	for i, w := range options.Weights {
		s := server{weight: w, backup: i < len(options.Backups) && options.Backups[i]}
		if i < len(options.Names) {
			s.name = HashOf(options.Names[i])
		}
		b.servers = append(b.servers, s)
	}
	return b
}

// Choose returns the server that gets the next request. loads has one Load for
// each server, and target is the hash of what the request is for, which only Hash looks at. ok is false where none can take it now: those in question are
// full, or out and not to be tried; Refuses tells.
func (b *Balancer) Choose(now time.Time, loads []Load, target uint64) (index int, t Ticket, ok bool) {
	r := b.reach(now, loads)
	if r > backups && b.options.Ejection.Refuse {
		return 0, 0, false
	}
	best := b.best(now, loads, r, target)
	if best < 0 {
		return 0, 0, false
	}
	s := &b.servers[best]
	b.given++
	if r <= backups && s.ejections > 0 {
		s.trial, s.until = b.given, now.Add(b.backoff(s.ejections)) // it has as long
	}
	return best, b.given, true
}

// best returns the candidate that the policy takes, -1 if there is none.
func (b *Balancer) best(now time.Time, loads []Load, r reach, target uint64) int {
	if b.options.Policy == Hash {
		return b.ranked(now, loads, r, target)
	}
	return b.inTurn(now, loads, r)
}

// inTurn returns the candidate whose turn it is, by weight, -1 if there is none.
func (b *Balancer) inTurn(now time.Time, loads []Load, r reach) int {
	least := math.Inf(1)
	if b.options.Policy == LeastConnections {
		least = b.least(now, loads, r)
	}
	best, total := -1, 0
	for i := range b.servers {
		s := &b.servers[i]
		if !b.candidate(i, now, loads[i], r) || b.burden(i, loads[i]) > least {
			continue
		}
		s.current += s.weight
		total += s.weight
		if best < 0 || s.current > b.servers[best].current {
			best = i
		}
	}
	if best >= 0 {
		b.servers[best].current -= total
	}
	return best
}

// reach is which servers a request may go to.
type reach uint8

const (
	upOnly    reach = iota // those that get requests as usual
	backups                // those of them that are backups: it has no other
	notDown                // the ejected ones, too: it has tried those that are up
	everybody              // none is up
)

// reach returns how far a request with these loads has to look. One that has tried
// every server that is up changes nothing about those that are down.
func (b *Balancer) reach(now time.Time, loads []Load) reach {
	r := everybody
	for i := range b.servers {
		switch s := &b.servers[i]; {
		case !s.available(now):
		case loads[i].Not:
			r = min(r, notDown)
		case s.backup || s.ejections > 0 && loads[i].Full: // what hangs on an ejected server holds up no backup
			r = min(r, backups)
		default:
			return upOnly
		}
	}
	return r
}

// Left reports whether any server in question gets requests as usual, be it full.
func (b *Balancer) Left(now time.Time, loads []Load) bool { return b.reach(now, loads) <= backups }

// Rests reports whether a server is a backup, and another one is up that is none.
func (b *Balancer) Rests(index int, now time.Time) bool {
	return b.servers[index].backup && slices.ContainsFunc(b.servers, func(s server) bool { return !s.backup && s.available(now) })
}

// candidate reports whether a server can take the request.
func (b *Balancer) candidate(i int, now time.Time, l Load, r reach) bool {
	if l.Not || l.Full {
		return false
	}
	s := &b.servers[i]
	switch r {
	case everybody:
		return true
	case notDown:
		return !s.down
	case backups:
		return s.available(now)
	case upOnly:
	}
	return !s.backup && s.available(now)
}

// least is the smallest burden of a candidate.
func (b *Balancer) least(now time.Time, loads []Load, r reach) float64 {
	least := math.Inf(1)
	for i := range b.servers {
		if b.candidate(i, now, loads[i], r) {
			least = min(least, b.burden(i, loads[i]))
		}
	}
	return least
}

// burden is what a server carries, for its weight. The request itself is left out:
// with it a light server would get nothing as long as a heavy one has little to do.
func (b *Balancer) burden(i int, l Load) float64 {
	return float64(l.InUse) / float64(b.servers[i].weight)
}

// available reports whether the server may get a request as usual: it is neither
// down nor ejected, or its trial is due.
func (s *server) available(now time.Time) bool {
	return !s.down && (s.ejections == 0 || !now.Before(s.until))
}
