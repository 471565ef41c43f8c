package dial

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds of a Watch and of a Follow.
const (
	// watchLeast and watchEvery bound the time between two lookups, which is the one for which the last answer may be used. Without
	// such a time, as with a name in /etc/hosts, it is watchEvery. Asking before the time is over finds what has changed sooner,
	// if no server on the way keeps the answer.
	watchLeast = time.Second
	watchEvery = 10 * time.Second

	// leftAfter is how many answers in a row have to be without an address for it to have left: some servers of names give
	// only some of the addresses in each answer.
	leftAfter = 3
)

// pause returns the time until the next lookup after an answer that may be used for ttl; 0: that is not known.
func pause(ttl time.Duration) time.Duration {
	if ttl == 0 {
		return watchEvery
	}
	return min(max(ttl, watchLeast), watchEvery)
}

// Watch looks up the host of address, HOST:PORT, again and again until stop is called, and tells left of the addresses that were in an answer
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
	seen := sightings[netip.Addr]{}
	return d.repeat(watchEvery, func() time.Duration { return d.look(host, seen, left) })
}

// repeat calls look after a time, and again after the time that it returns, until stop is called or d is closed.
func (d *Dialer) repeat(after time.Duration, look func() time.Duration) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return func() {}
	}
	ended := make(chan struct{})
	d.running.Go(func() {
		next := time.NewTimer(after)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				again := watchEvery
				d.options.Panics.Quietly(func() { again = look() })
				next.Reset(again)
			case <-ended:
				return
			case <-d.ctx.Done():
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(ended) })
}

// look asks the resolver once, and tells left what has left. An answer that fails, or is empty, says nothing. It returns the time until
// the next look.
func (d *Dialer) look(host string, seen sightings[netip.Addr], left func(netip.Addr)) time.Duration {
	addrs, ttl, err := d.names.anew(host)
	if err == nil {
		for _, a := range seen.note(unmapped(addrs)) {
			left(a)
		}
	}
	return pause(ttl)
}

// unmapped returns addrs, those of IPv4 as such.
func unmapped(addrs []netip.Addr) []netip.Addr {
	out := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		out[i] = a.Unmap()
	}
	return out
}

// sightings has for each thing in the answers for a name how many answers in a row it was not in.
type sightings[T comparable] map[T]int

// note notes an answer, and returns what has left with it.
func (s sightings[T]) note(answer []T) (left []T) {
	for _, v := range answer {
		s[v] = 0
	}
	for v := range s {
		if slices.Contains(answer, v) {
			continue
		}
		if s[v]++; s[v] >= leftAfter {
			delete(s, v)
			left = append(left, v)
		}
	}
	return left
}

// anew asks the resolver for host, or waits for the lookup that is under way. After a failure it returns the answer of before, if
// there is one, too.
func (n *names) anew(host string) (addrs []netip.Addr, ttl time.Duration, err error) {
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
	return e.addrs, e.ttl, l.err
}
