package dial

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// names remembers the addresses of hosts.
type names struct {
	options *Options
	ctx     context.Context // context of all lookups
	running *sync.WaitGroup

	mu    sync.Mutex
	known map[string]*name
}

// name is what is known of one host. Its fields are guarded by names.mu.
type name struct {
	addrs   []netip.Addr  // never written again
	first   netip.Addr    // answered the last time
	last    []netip.Addr  // answered, and were of no use; the one that was it last at the end
	at      time.Time     // when addrs came; zero: never
	ttl     time.Duration // for how long they may be used; 0: not known
	doubted bool          // none of addrs answered
	asked   time.Time     // when the last lookup began
	failed  bool          // the last lookup that ended
	lookup  *lookup       // under way; nil: none
}

// lookup is one question to the resolver. err is set before done is closed.
type lookup struct {
	done chan struct{}
	err  error
}

// addresses returns the addresses of host in the order to try. It waits for a
// lookup only where there is no answer that is good enough.
func (n *names) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, l := n.recall(host, time.Now())
	if l == nil {
		return addrs, nil
	}
	var out <-chan time.Time // the end of patience, where there is an older answer
	if addrs != nil {
		t := time.NewTimer(n.options.Patience)
		defer t.Stop()
		out = t.C
	}
	select {
	case <-l.done:
	case <-out:
		return addrs, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case l.err == nil:
		n.mu.Lock()
		defer n.mu.Unlock()
		e := n.known[host]
		return order(e.addrs, e.first, e.last), nil
	case addrs != nil:
		return addrs, nil
	}
	return nil, l.err
}

// recall returns what is known of host, nil if that is too old, and a lookup to
// wait for, nil if there is no need to. Where the resolver failed the last time,
// nobody who has an answer waits for it.
func (n *names) recall(host string, now time.Time) (addrs []netip.Addr, l *lookup) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[host]
	if e == nil {
		e = &name{}
		n.known[host] = e
	}
	age := now.Sub(e.at)
	if !e.at.IsZero() && age < n.options.Keep {
		addrs = order(e.addrs, e.first, e.last)
	}
	switch {
	case addrs == nil:
		return nil, n.askLocked(host, e, now)
	case age < n.options.Fresh && !e.doubted, e.lookup == nil && now.Sub(e.asked) < n.options.Interval:
		return addrs, nil
	}
	l = n.askLocked(host, e, now)
	if e.failed || age < 2*n.options.Fresh && !e.doubted {
		return addrs, nil // it goes on in the background
	}
	return addrs, l
}

// askLocked starts a lookup unless one is under way.
func (n *names) askLocked(host string, e *name, now time.Time) *lookup {
	if e.lookup != nil {
		return e.lookup
	}
	l := &lookup{done: make(chan struct{})}
	e.lookup, e.asked = l, now
	n.running.Go(func() { n.run(host, e, l) })
	return l
}

// run asks the resolver and notes the answer.
func (n *names) run(host string, e *name, l *lookup) {
	ctx, cancel := context.WithTimeout(n.ctx, n.options.LookupTimeout)
	defer cancel()
	addrs, ttl, err := n.ask(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("lookup " + host + ": no addresses found")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		e.addrs, e.at, e.ttl, e.doubted = append([]netip.Addr(nil), addrs...), time.Now(), ttl, false
	}
	l.err = err
	e.lookup, e.failed = nil, err != nil
	close(l.done)
}

// ask asks the resolver.
func (n *names) ask(ctx context.Context, host string) (addrs []netip.Addr, ttl time.Duration, err error) {
	defer n.options.Panics.Into(&err)
	return n.options.Lookup(ctx, host)
}

// answered notes that a dial to address succeeded.
func (n *names) answered(host string, address netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.known[host]; e != nil {
		e.first = address
	}
}

// failed notes that address answered, and what was then asked of it failed.
func (n *names) failed(host string, address netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.known[host]
	if e == nil {
		return
	}
	if e.first == address {
		e.first = netip.Addr{}
	}
	e.last = slices.DeleteFunc(e.last, func(a netip.Addr) bool { return a == address })
	e.last = append(e.last, address)
	e.last = e.last[max(len(e.last)-maxAddresses, 0):]
}

// doubt notes that no address of host answered: they may have changed.
func (n *names) doubt(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.known[host]; e != nil {
		e.doubted = true
	}
}
