package origin

import (
	"net/netip"
	"time"

	"edgeproxy/internal/balance"
)

// A client holds a connection from when it is given one, or begins to wait for one, until
// the response has ended. A connection that was switched to another protocol no longer counts.
// A client that may have no more is refused at once: the queue is for clients that found all
// connections in use by others.

// enterLocked counts one more connection of a client, and reports false where it may have
// none.
func (p *pool) enterLocked(who netip.Prefix, now time.Time) bool {
	if p.spentLocked(who, now) {
		return false
	}
	p.shares.Take(who)
	return true
}

// spentLocked reports whether a client holds its share while connections are scarce.
func (p *pool) spentLocked(who netip.Prefix, now time.Time) bool {
	if p.shares.Held(who) == 0 {
		return false
	}
	used, all := 0, 0
	for _, s := range p.servers {
		if state, _ := p.balancer.State(s.index, now); state == balance.Up && !p.balancer.Rests(s.index, now) {
			used, all = used+s.open-len(s.idle), all+s.limit
		}
	}
	return p.shares.Spent(who, 0, used, all)
}

// quit notes that a client holds one connection less. It does nothing to the connection.
func (p *pool) quit(who netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Give(who)
}
