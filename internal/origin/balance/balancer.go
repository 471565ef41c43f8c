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
	// LeastConnections takes the server with the fewest connections in use for its
	// weight, and equal ones in turn.
	LeastConnections
	// Hash takes the server with the highest rank for the target of the request (weighted rendezvous hashing).
	Hash
)

// String returns the word of p in the configuration.
func (p Policy) String() string { return [...]string{"round_robin", "least_connections", "hash"}[p] }

// Options configure a Balancer. Counts are above 0 unless said otherwise.
type Options struct {
	Policy   Policy
	Servers  []Server // servers at first; Set replaces them
	Ejection Ejection
	Health   Health
}

// Server is what the balancer has to know of a server.
type Server struct {
	Weight int // its share, relative to the others; above 0
	// Tier is 0 for most servers. One of a higher tier is a backup: it gets requests only while no server of a lower tier can
	// have them. It is below lastTier.
	Tier int
	Name string // for Hash: the name and not the index decides which targets a server gets
}

// Load is what a server carries when one is chosen.
type Load struct {
	InUse int  // connections in use
	Full  bool // it can take no further one now
	Not   bool // this request must not go to it
}

// Ticket numbers the requests given out, in order, from 1.
type Ticket uint64

// Balancer chooses among servers. A server is given by its index in
// Options.Servers, or in the list of the last Set.
type Balancer struct {
	options    Options
	servers    []server
	lastTicket Ticket // the last
}

// server is one of them.
type server struct {
	weight  int
	tier    int
	name    uint64 // a hash of its name
	current int    // current weight of smooth weighted round robin

	failures    int       // failures to connect, in a row, while not ejected
	recent      recent    // requests, while not ejected
	ejections   int       // in a row; 0: not ejected
	until       time.Time // end of the ejection, or of the trial
	ejectedAt   Ticket    // the last request given out before its last ejection
	trialTicket Ticket    // its last trial

	down   bool // health checks found it down
	streak int  // checks in a row whose result contradicts down

	drained bool // an operator wants it to get no requests
}

// New returns a Balancer whose servers are all up.
func New(options Options) *Balancer {
	b := &Balancer{options: options}
	b.Set(options.Servers, nil)
	return b
}

// Set replaces the servers. was has the index that each of them had, or -1 for a new one, which is up; nil is new ones alone. What
// is known of a server that had an index stays.
func (b *Balancer) Set(servers []Server, was []int) {
	before := b.servers
	b.servers = make([]server, len(servers))
	for i, v := range servers {
		s := &b.servers[i]
		if was != nil && was[i] >= 0 {
			*s = before[was[i]]
		}
		s.weight, s.tier, s.name = v.Weight, v.Tier, HashOf(v.Name)
	}
}

// Choose returns the server that gets the next request. loads has one Load for
// each server. target is the hash of the request's target, which only Hash uses. ok is false if no
// server can take the request now: those that may are full, there is none, or all are out and Ejection.Refuse is
// set, or all are drained; see Refuses.
func (b *Balancer) Choose(now time.Time, loads []Load, target uint64) (index int, t Ticket, ok bool) {
	r := b.candidateSet(now, loads)
	if r > lastTier && b.options.Ejection.Refuse {
		return 0, 0, false
	}
	best := b.choose(now, loads, r, target)
	if best < 0 {
		return 0, 0, false
	}
	s := &b.servers[best]
	b.lastTicket++
	if r <= lastTier && s.ejections > 0 {
		s.trialTicket, s.until = b.lastTicket, now.Add(b.backoff(s.ejections)) // the trial may take as long as the ejection
	}
	return best, b.lastTicket, true
}

// choose returns the candidate that the policy chooses, -1 if there is none.
func (b *Balancer) choose(now time.Time, loads []Load, r candidateSet, target uint64) int {
	if b.options.Policy == Hash {
		return b.chooseByHash(now, loads, r, target)
	}
	return b.chooseByWeight(now, loads, r)
}

// chooseByWeight returns the candidate whose turn it is, by weight, -1 if there is none.
func (b *Balancer) chooseByWeight(now time.Time, loads []Load, r candidateSet) int {
	least := math.Inf(1)
	if b.options.Policy == LeastConnections {
		least = b.leastLoad(now, loads, r)
	}
	best, total := -1, 0
	for i := range b.servers {
		s := &b.servers[i]
		if !b.candidate(i, now, loads[i], r) || b.relativeLoad(i, loads[i]) > least {
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

// candidateSet says which servers a request may go to: up to lastTier, those that are up, of this tier and lower ones.
type candidateSet int

const (
	lastTier  candidateSet = 1<<20 + iota // all that are up
	notDown                               // ejected ones, too: the request has tried all that are up
	anyServer                             // all that are not drained: none is up
)

// candidateSet returns which servers a request with these loads may go to: of those that are up, the lowest tier that the request
// has not tried whole. A request that has tried every server that is up still does not go to one that is down.
func (b *Balancer) candidateSet(now time.Time, loads []Load) candidateSet {
	r := anyServer
	for i := range b.servers {
		switch s := &b.servers[i]; {
		case !s.available(now):
		case loads[i].Not:
			r = min(r, notDown)
		case s.ejections > 0 && loads[i].Full: // an ejected server that is full does not keep requests from the backups
			r = min(r, lastTier)
		case s.tier == 0:
			return 0
		default:
			r = min(r, candidateSet(s.tier))
		}
	}
	return r
}

// Left reports whether any server that the request may go to is up, even if it is full.
func (b *Balancer) Left(now time.Time, loads []Load) bool {
	return b.candidateSet(now, loads) <= lastTier
}

// Rests reports whether a server of a lower tier than this one is up.
func (b *Balancer) Rests(index int, now time.Time) bool {
	tier := b.servers[index].tier
	return tier > 0 && slices.ContainsFunc(b.servers, func(s server) bool { return s.tier < tier && s.available(now) })
}

// candidate reports whether a server can take the request.
func (b *Balancer) candidate(i int, now time.Time, l Load, r candidateSet) bool {
	if l.Not || l.Full {
		return false
	}
	s := &b.servers[i]
	if s.drained {
		return false
	}
	switch r {
	case anyServer:
		return true
	case notDown:
		return !s.down
	case lastTier:
	}
	return candidateSet(s.tier) <= r && s.available(now)
}

// leastLoad returns the smallest relativeLoad of a candidate.
func (b *Balancer) leastLoad(now time.Time, loads []Load, r candidateSet) float64 {
	least := math.Inf(1)
	for i := range b.servers {
		if b.candidate(i, now, loads[i], r) {
			least = min(least, b.relativeLoad(i, loads[i]))
		}
	}
	return least
}

// relativeLoad returns the connections in use divided by the weight. The request itself is not
// counted: with it a server of low weight would get nothing while one of high weight has little to do.
func (b *Balancer) relativeLoad(i int, l Load) float64 {
	return float64(l.InUse) / float64(b.servers[i].weight)
}

// available reports whether the server may get a request as usual: it is neither drained
// nor down nor ejected, or its trial is due.
func (s *server) available(now time.Time) bool {
	return !s.drained && !s.down && (s.ejections == 0 || !now.Before(s.until))
}
