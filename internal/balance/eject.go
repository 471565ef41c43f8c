package balance

import (
	"slices"
	"time"
)

// Ejection says when a server that fails gets no requests for a while.
type Ejection struct {
	// Failures in a row eject a server; 0 is never.
	Failures int
	// Backoff is how long for; each trial that fails doubles it, up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
	// Refuse gives out no request while every server is ejected or down, but the
	// trials. Otherwise all are then tried as if none was.
	Refuse bool
}

// Succeeded notes that the server answered the request with the ticket. It reports
// whether that ended an ejection. If no other server was up, what they failed by
// was a common cause: the trials of the others are due at once, lest the first to
// be back carries everything.
func (b *Balancer) Succeeded(index int, t Ticket) bool {
	s := &b.servers[index]
	if t <= s.ejected {
		return false
	}
	back := s.ejections > 0
	if back && !b.up() {
		for i := range b.servers {
			b.servers[i].until = time.Time{}
		}
	}
	s.failures, s.ejections = 0, 0
	return back
}

// up reports whether any server is neither ejected nor down.
func (b *Balancer) up() bool {
	for i := range b.servers {
		if !b.servers[i].down && b.servers[i].ejections == 0 {
			return true
		}
	}
	return false
}

// Failed notes that the server did not answer the request with the ticket. It
// reports whether that began an ejection. Of an ejected server only a trial says
// anything new: while all are tried as if none was ejected, many fail.
func (b *Balancer) Failed(index int, t Ticket, now time.Time) bool {
	s := &b.servers[index]
	if b.options.Ejection.Failures == 0 || t <= s.ejected || s.ejections > 0 && t != s.trial {
		return false
	}
	if s.ejections == 0 {
		if s.failures++; s.failures < b.options.Ejection.Failures {
			return false
		}
	}
	s.ejections++
	s.until = now.Add(b.backoff(s.ejections))
	s.ejected = b.given
	return s.ejections == 1
}

// backoff is how long the nth ejection in a row lasts.
func (b *Balancer) backoff(n int) time.Duration {
	d := b.options.Ejection.Backoff
	for ; n > 1 && d < b.options.Ejection.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, b.options.Ejection.MaxBackoff)
}

// Refuses reports whether no request is given out now because every server is out.
func (b *Balancer) Refuses(now time.Time) bool {
	return b.options.Ejection.Refuse && !slices.ContainsFunc(b.servers, func(s server) bool { return s.available(now) })
}
