package proxy

import (
	"net/netip"
	"sync"

	"edgeproxy/internal/client"
	"edgeproxy/internal/reason"
)

// clientSlots bounds requests that are no hits; another one bounds tunnels. Each client has a share
// of the places while they are scarce. A stream of HTTP/2 takes a place like any request.
type clientSlots struct {
	part client.Part

	mu     sync.Mutex
	shares *client.Shares
}

func newClientSlots(part client.Part) *clientSlots {
	return &clientSlots{part: part, shares: client.NewShares(part)}
}

// acquire takes a place for a client, and reports false where it may have none. used is
// how many of all places are taken.
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

func (s *clientSlots) release(who netip.Prefix) {
	if s.part.Off() || !who.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.Give(who)
}

// acquireSlot takes a place among the requests that go to an origin.
func (p *Proxy) acquireSlot(x *exchange, d disposition) disposition {
	x.who, _ = client.Of(x.clientAddress())
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

// releaseSlot gives back what forwardable took. It may be called again.
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

// acquireTunnel takes a place among the tunnels for x, whose request is about to ask for an
// upgrade, or refuses it. A tunnel gives the one among the requests back.
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

// releaseTunnel gives back what enterTunnels took. It may be called again, and for any
// exchange.
func (p *Proxy) releaseTunnel(x *exchange) {
	if x.tunnels {
		p.tunnels.open.Add(-1)
		p.tunnels.shares.release(x.who)
		x.tunnels = false
	}
}
