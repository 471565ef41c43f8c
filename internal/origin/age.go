package origin

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"time"
)

// This file says when a connection to a server carries no more requests although it works: when it is old enough, and when its address is
// no longer one of the server's name. Then a server that was moved gets no requests any more, and new servers get their share.

// lifetime returns the age at which a connection that is made now ends; 0: at none. It is up to a tenth shorter than Options.MaxAge, so
// that connections that were made at once do not end at once.
func (o *Options) lifetime() time.Duration {
	if o.MaxAge == 0 {
		return 0
	}
	return o.MaxAge - rand.N(o.MaxAge/10+1) //nolint:gosec // no secret
}

// addressOf returns the address at the other end of c; the zero Addr if it has none.
func addressOf(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// isOver reports whether a connection of s to address, which ends at this time, carries no more requests.
func (s *server) isOver(address netip.Addr, ends, now time.Time) bool {
	if !ends.IsZero() && !now.Before(ends) {
		return true
	}
	left := s.left.Load()
	return left != nil && slices.Contains(*left, address)
}

// watch follows the addresses of the name of s until stop is called.
func (o *Origin) watch(s *server) (stop func()) {
	if o.options.Watch == nil {
		return func() {}
	}
	return o.options.Watch(s.Address, func(a netip.Addr) { o.pool.addressLeft(s, a) })
}

// mostLeft is how many addresses that have left a server remembers.
const mostLeft = 64

// addressLeft notes that a is no longer an address of s. Idle connections to it end now, the others when their response does.
func (p *pool) addressLeft(s *server, a netip.Addr) {
	p.mu.Lock()
	var all []netip.Addr
	if before := s.left.Load(); before != nil {
		all = slices.DeleteFunc(slices.Clone(*before), func(b netip.Addr) bool { return b == a })
	}
	all = append(all, a)
	all = all[max(len(all)-mostLeft, 0):]
	s.left.Store(&all)
	var kept, over []*conn
	for _, c := range s.idle {
		if c.address == a {
			over = append(over, c)
		} else {
			kept = append(kept, c)
		}
	}
	p.dropIdleLocked(s, kept)
	p.mu.Unlock()
	for _, c := range over {
		c.retire()
	}
	s.h2.endOver(time.Now())
}

// made notes that a connection to a was made: it is an address of s now, whatever it was.
func (s *server) made(a netip.Addr) {
	left := s.left.Load()
	if left == nil || !slices.Contains(*left, a) {
		return
	}
	others := slices.DeleteFunc(slices.Clone(*left), func(b netip.Addr) bool { return b == a })
	s.left.CompareAndSwap(left, &others)
}

// endOver gives connections that are over no new requests.
func (h *h2Conns) endOver(now time.Time) {
	if h == nil {
		return
	}
	h.mu.Lock()
	conns := h.conns
	h.mu.Unlock()
	for _, c := range conns {
		if h.server.isOver(c.address, c.ends, now) {
			h.drop(c)
		}
	}
}
