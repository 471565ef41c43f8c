package origin

import (
	"net/netip"
	"time"

	"edgeproxy/internal/origin/balance"
)

// A client holds a connection from when it is given one, or begins to wait for one, until
// the response has ended. A connection that was switched to another protocol no longer counts.
// A client that may have no more is refused at once: the queue is for clients that found all
// connections in use by others.

// takeShareLocked counts one more connection of a client. It reports false if the client may have
// no more.
func (p *pool) takeShareLocked(who netip.Prefix, now time.Time) bool {
	if p.shareSpentLocked(who, now) {
		return false
	}
	p.shares.Take(who)
	return true
}

// shareSpentLocked reports whether a client holds its share while connections are scarce.
func (p *pool) shareSpentLocked(who netip.Prefix, now time.Time) bool {
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

// giveShare counts one connection less for a client. It does nothing to the connection.
func (p *pool) giveShare(who netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Give(who)
}
