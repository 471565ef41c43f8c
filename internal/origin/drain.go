package origin

import (
	"sync"
	"time"
)

// drains is the names of servers that an operator has drained. An Origin in the place of another goes on with them. So a server is drained also
// after its name was away: in a lookup of its addresses, or while a lookup had not ended.
type drains struct {
	mu    sync.Mutex
	names map[string]bool // guarded by mu
}

func (d *drains) has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name]
}

func (d *drains) set(name string, out bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if out {
		d.names[name] = true
	} else {
		delete(d.names, name)
	}
}

// Drain takes the servers of this name out of use, or with out false lets them have requests again. Requests in progress go on; idle
// connections are closed, and health checks continue. A server that comes under the name of a drained one is drained, also in an Origin in the place of
// o. Drain returns how many servers have the name; none are drained if there are none.
func (o *Origin) Drain(name string, out bool) (servers int) {
	found, idle := o.pool.drain(name, out, time.Now())
	for _, c := range idle {
		c.retire()
	}
	for _, s := range found {
		if s.h2 != nil {
			s.h2.rest(out)
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
		s.drained = out
		p.balancer.Drain(s.index, out)
		if out {
			idle = append(idle, s.idle...)
			p.dropIdleLocked(s, nil)
		}
	}
	if len(found) > 0 || !out {
		p.drains.set(name, out)
	}
	p.serveLocked(now)
	p.failUnservableLocked(now)
	return found, idle
}
