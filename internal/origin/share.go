package origin

import (
	"net/netip"
	"time"

	"edgeproxy/internal/balance"
)

// A client holds a connection from when it is given one, or begins to wait for one, until
// the response has ended. What was switched to another protocol is in no limit of ours.
// Nobody waits who may have none: the queue is for those who found all in use by others.

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
		if state, _ := p.balancer.State(s.index, now); state == balance.Up {
			used, all = used+s.open-len(s.idle), all+s.limit
		}
	}
	return p.shares.Spent(who, used, all)
}

// quit notes that a client holds one connection less, whoever has it now.
func (p *pool) quit(who netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Give(who)
}
