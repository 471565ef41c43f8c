package balance

import (
	"slices"
	"time"
)

// Ejection says when a server that fails gets no requests for a while. There are two
// rules, each with a count or ratio that turns it off. A server that cannot be connected to
// is down for all requests. A request that breaks after the connection was made may itself be
// the cause. So the second rule needs many broken requests, for different targets, and few good ones.
type Ejection struct {
	// Failures is how many requests in a row that no connection can be made for eject a
	// server; 0 is never.
	Failures int
	// Ratio of the requests that ended within Window that have to break off for a server
	// to be ejected, if they are at least Requests, and those that broke were for at least
	// Targets different targets; 0 is never. With it Window, Requests and Targets are
	// above 0.
	Ratio             float64
	Window            time.Duration
	Requests, Targets int
	// Backoff is how long for; each trial that finds no connection doubles it, up to
	// MaxBackoff.
	Backoff, MaxBackoff time.Duration
	// Refuse gives out only trials while every server is ejected or down. Otherwise all
	// servers then get requests as if they were up.
	Refuse bool
}

// Never reports whether no server is ever ejected.
func (e *Ejection) Never() bool { return e.Failures == 0 && e.Ratio == 0 }

// Succeeded notes that the server answered the request with the ticket. It reports
// whether that ended an ejection. If no other server was up, all had failed by a
// common cause. Then the trials of the others are due at once, so that the first
// server that is back does not carry everything.
func (b *Balancer) Succeeded(index int, t Ticket, now time.Time) bool {
	s := &b.servers[index]
	if t <= s.ejectedAt {
		return false
	}
	back := s.ejections > 0
	if back && !b.anyUp() {
		for i := range b.servers {
			b.servers[i].until = time.Time{}
		}
	}
	s.failures, s.ejections = 0, 0
	if e := &b.options.Ejection; e.Ratio > 0 {
		s.recent.add(e, now, false)
	}
	return back
}

// anyUp reports whether any server is neither ejected nor down nor drained.
func (b *Balancer) anyUp() bool {
	for i := range b.servers {
		if s := &b.servers[i]; !s.drained && !s.down && s.ejections == 0 {
			return true
		}
	}
	return false
}

// Failed notes that no connection to the server could be made for the request with the
// ticket. It reports whether that began an ejection. Of an ejected server only a trial
// says anything new: while all are tried as if none was ejected, many fail.
func (b *Balancer) Failed(index int, t Ticket, now time.Time) bool {
	s := &b.servers[index]
	if !b.counts(s, t) {
		return false
	}
	if s.ejections == 0 {
		if b.options.Ejection.Failures == 0 {
			return false
		}
		if s.failures++; s.failures < b.options.Ejection.Failures {
			return false
		}
	}
	return b.eject(s, now)
}

// Broke notes that the request with the ticket reached the server and got no proper
// answer. Target is a hash of what it asked for. It reports whether that began an
// ejection. A trial that breaks leaves the server out for as long again.
func (b *Balancer) Broke(index int, t Ticket, target uint64, now time.Time) bool {
	s, e := &b.servers[index], &b.options.Ejection
	if !b.counts(s, t) {
		return false
	}
	if s.ejections > 0 {
		s.until, s.ejectedAt = now.Add(b.backoff(s.ejections)), b.lastTicket
		return false
	}
	if e.Ratio == 0 {
		return false
	}
	s.recent.add(e, now, true)
	s.recent.noteTarget(e, now, target)
	return s.recent.shouldEject(e, now) && b.eject(s, now)
}

// counts reports whether the failure of the request with the ticket counts: the request was given out
// after the last ejection and, if s is ejected, it is the trial.
func (b *Balancer) counts(s *server, t Ticket) bool {
	return !b.options.Ejection.Never() && t > s.ejectedAt && (s.ejections == 0 || t == s.trialTicket)
}

// eject ejects s, for longer each time in a row. It reports whether this is the first time.
func (b *Balancer) eject(s *server, now time.Time) bool {
	s.ejections++
	s.until = now.Add(b.backoff(s.ejections))
	s.ejectedAt = b.lastTicket
	s.recent.reset()
	return s.ejections == 1
}

// backoff returns how long the nth ejection in a row lasts.
func (b *Balancer) backoff(n int) time.Duration {
	d := b.options.Ejection.Backoff
	for ; n > 1 && d < b.options.Ejection.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, b.options.Ejection.MaxBackoff)
}

// Refuses reports whether no request is given out now because every server is out, or all are drained.
func (b *Balancer) Refuses(now time.Time) bool {
	if !slices.ContainsFunc(b.servers, func(s server) bool { return !s.drained }) {
		return true
	}
	return b.options.Ejection.Refuse && !slices.ContainsFunc(b.servers, func(s server) bool { return s.available(now) })
}
