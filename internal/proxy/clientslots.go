package proxy

import (
	"net/netip"
	"sync"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/route/client"
)

// clientSlots counts the slots that each client has of a limited number. While few are free, one client may have no more
// than its share of them (client.Part). One counts the requests that go to origins, where a stream of HTTP/2 takes a slot as
// any request does; others count tunnels, validations in the background, and encoders.
type clientSlots struct {
	part client.Part

	mu     sync.Mutex
	shares *client.Shares
}

func newClientSlots(part client.Part) *clientSlots {
	return &clientSlots{part: part, shares: client.NewShares(part)}
}

// acquire takes a slot for a client, and reports false where that is over its share. used is how many of all slots are
// taken by any client.
func (s *clientSlots) acquire(who netip.Prefix, used, all int64) bool {
	if s.part.Off() || !who.IsValid() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares.Spent(who, 0, int(used), int(all)) {
		return false
	}
	s.shares.Take(who)
	return true
}

// release gives a slot of a client back.
func (s *clientSlots) release(who netip.Prefix) {
	if s.part.Off() || !who.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.Give(who)
}

// acquireSlot takes a slot for x among the requests that go to an origin, or refuses it.
func (p *Proxy) acquireSlot(x *exchange, d disposition) disposition {
	x.who, _ = client.Of(x.ClientAddress())
	x.counted, x.busy = true, true
	x.route.metrics.busy.Add(1)
	n, all := p.forwarding.Add(1), int64(x.settings.RequestsInFlight)
	switch {
	case !p.slots.acquire(x.who, n-1, all):
		p.Metrics.overShare.note()
		p.refuse(x, statusTooManyRequests, reason.ClientShare)
		return refused
	case n > all:
		p.slots.release(x.who)
		p.Metrics.overload.note()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		return refused
	}
	x.placed = true
	x.presence = p.watch.Attend(x.req.Conn)
	return d
}

// releaseSlot gives back what acquireSlot took. It may be called again.
func (p *Proxy) releaseSlot(x *exchange) {
	if x.counted {
		p.forwarding.Add(-1)
	}
	x.presence.Release()
	if x.placed {
		p.slots.release(x.who)
	}
	x.counted, x.placed = false, false
}

// acquireTunnel takes a slot for x among the tunnels before the origin is asked for an upgrade, or refuses it. A request that has
// become a tunnel gives its slot among the requests back.
func (p *Proxy) acquireTunnel(x *exchange) bool {
	n, all := p.tunnels.open.Add(1), int64(x.settings.Tunnels)
	switch {
	case !p.tunnels.shares.acquire(x.who, n-1, all):
		p.tunnels.open.Add(-1)
		p.Metrics.overTunnelsShare.note()
		p.refuse(x, statusTooManyRequests, reason.ClientShare)
		return false
	case n > all:
		p.tunnels.shares.release(x.who)
		p.tunnels.open.Add(-1)
		p.Metrics.overTunnels.note()
		p.refuse(x, statusServiceUnavailable, reason.Overload)
		return false
	}
	x.tunnels = true
	return true
}

// releaseTunnel gives back what acquireTunnel took. It may be called again, and for any
// exchange.
func (p *Proxy) releaseTunnel(x *exchange) {
	if x.tunnels {
		p.tunnels.open.Add(-1)
		p.tunnels.shares.release(x.who)
		x.tunnels = false
	}
}
