package origin

import "time"

// wakeLocked makes sweep run at the given time or before. in is how long that is
// from now.
func (p *pool) wakeLocked(at time.Time, in time.Duration) {
	switch {
	case p.timer == nil:
		p.timer = time.AfterFunc(in, func() { p.panics.Quietly(p.sweep) })
	case p.wakes.IsZero() || at.Before(p.wakes):
		p.timer.Reset(in)
	default:
		return
	}
	p.wakes = at
}

// sweep closes the connections that lay idle for too long, so that they go also
// when no request comes that would find them.
func (p *pool) sweep() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.sweeping.Add(1) // before close can see the lock free, and wait
	defer p.sweeping.Done()
	expired := p.expireLocked(time.Now())
	p.mu.Unlock()
	for _, c := range expired {
		c.retire()
	}
}

// expireLocked removes the connections whose time is over, and sets the timer
// for the next one.
func (p *pool) expireLocked(now time.Time) []*conn {
	var expired []*conn
	var first time.Time
	for _, s := range p.servers {
		var kept []*conn
		for _, c := range s.idle {
			if !now.Before(c.expires) {
				expired = append(expired, c)
				continue
			}
			if first.IsZero() || c.expires.Before(first) {
				first = c.expires
			}
			kept = append(kept, c)
		}
		p.dropIdleLocked(s, kept)
	}
	p.wakes = time.Time{}
	if !first.IsZero() {
		p.wakeLocked(first, first.Sub(now))
	}
	return expired
}

// dropIdleLocked leaves only kept idle; the caller closes the others. An idle slot
// is no less free than one without a connection, so nobody waits for these.
func (p *pool) dropIdleLocked(s *server, kept []*conn) {
	dropped := len(s.idle) - len(kept)
	s.idle = kept
	s.open -= dropped
	p.metrics.idle.Sub(float64(dropped))
}
