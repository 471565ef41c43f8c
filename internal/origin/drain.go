package origin

import "time"

// Drain takes the servers of this name out of use, or with out false lets them have requests again. Requests in progress go on; idle
// connections are closed, and health checks continue. A server of the same name that an Origin in the place of o has is drained, too. Drain returns
// how many servers have the name.
func (o *Origin) Drain(name string, out bool) (servers int) {
	found, idle := o.pool.drain(name, out, time.Now())
	for _, c := range idle {
		c.retire()
	}
	if out {
		for _, s := range found {
			if s.h2 != nil {
				s.h2.rest()
			}
		}
	}
	return len(found)
}

// drain returns the servers of this name, and their idle connections, which the caller closes.
func (p *pool) drain(name string, out bool, now time.Time) (found []*server, idle []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		if s.String() != name {
			continue
		}
		found = append(found, s)
		s.lasting.drained.Store(out)
		p.balancer.Drain(s.index, out)
		if out {
			idle = append(idle, s.idle...)
			p.dropIdleLocked(s, nil)
		}
	}
	p.serveLocked(now)
	p.failUnservableLocked(now)
	return found, idle
}
