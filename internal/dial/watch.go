package dial

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds of a Watch.
const (
	// watchEvery is the time between two lookups. The system's resolver does not say how long its answer may be used; it asks
	// its own server again when that time is over, so asking it often costs little.
	watchEvery = 10 * time.Second

	// leftAfter is how many answers in a row have to be without an address for it to have left: some servers of names give
	// only some of the addresses in each answer.
	leftAfter = 3
)

// Watch looks up the host of address, HOST:PORT, every ten seconds until stop is called, and tells left of the addresses that were in an answer
// before, and are in none of the last three. It is told again of an address that comes back and leaves. A host that is an address, or a socket, is not
// watched. Left is called from another goroutine, and must not call stop.
func (d *Dialer) Watch(address string, left func(netip.Addr)) (stop func()) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return func() {}
	}
	_, notPort := strconv.ParseUint(port, 10, 16)
	if _, notAddress := netip.ParseAddr(host); notPort != nil || notAddress == nil {
		return func() {}
	}
	return d.watch(host, left)
}

func (d *Dialer) watch(host string, left func(netip.Addr)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return func() {}
	}
	ended := make(chan struct{})
	d.running.Go(func() {
		seen := sightings{}
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				d.options.Panics.Quietly(func() { d.look(host, seen, left) })
			case <-ended:
				return
			case <-d.ctx.Done():
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(ended) })
}

// look asks the resolver once, and tells left what has left. An answer that fails, or is empty, says nothing.
func (d *Dialer) look(host string, seen sightings, left func(netip.Addr)) {
	addrs, err := d.names.anew(host)
	if err != nil || len(addrs) == 0 {
		return
	}
	for _, a := range seen.note(addrs) {
		left(a)
	}
}

// sightings has for each address of a name how many answers in a row it was not in.
type sightings map[netip.Addr]int

// note notes an answer, and returns the addresses that have left with it.
func (s sightings) note(addrs []netip.Addr) (left []netip.Addr) {
	for _, a := range addrs {
		s[a.Unmap()] = 0
	}
	for a := range s {
		if slices.ContainsFunc(addrs, func(b netip.Addr) bool { return b.Unmap() == a }) {
			continue
		}
		if s[a]++; s[a] >= leftAfter {
			delete(s, a)
			left = append(left, a)
		}
	}
	return left
}

// anew asks the resolver for host, or waits for the lookup that is under way.
func (n *names) anew(host string) ([]netip.Addr, error) {
	n.mu.Lock()
	e := n.known[host]
	if e == nil {
		e = &name{}
		n.known[host] = e
	}
	l := n.askLocked(host, e, time.Now())
	n.mu.Unlock()
	<-l.done // LookupTimeout bounds it
	n.mu.Lock()
	defer n.mu.Unlock()
	return e.addrs, l.err
}
