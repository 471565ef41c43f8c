package dial

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// attempt is how one address answered.
type attempt struct {
	index int
	c     net.Conn
	err   error
}

// race connects to one of addrs, of which there is at least one, and says to
// which. The next is tried when those before have failed, or have not answered
// for AttemptDelay; who answers first wins, and the others are given up.
func (d *Dialer) race(ctx context.Context, network string, addrs []netip.Addr, port uint16) (net.Conn, int, error) {
	limited, cancel := context.WithCancel(ctx)
	results := make(chan attempt, len(addrs)) // room for all: none waits
	begin := func(i int) {
		go func() {
			a := attempt{index: i}
			defer func() { results <- a }()
			defer d.options.Panics.Into(&a.err)
			a.c, a.err = d.options.Connect(limited, network, netip.AddrPortFrom(addrs[i], port).String())
		}()
	}
	delay := time.NewTimer(d.options.AttemptDelay)
	defer delay.Stop()
	begin(0)
	begun, ended := 1, 0
	defer func() {
		cancel()
		d.running.Go(func() { closeLate(results, begun-ended) })
	}()
	var first error
	for ended < len(addrs) {
		select {
		case a := <-results:
			ended++
			if a.err == nil {
				return a.c, a.index, nil
			}
			if first == nil || short(first) && !short(a.err) { // an answer says more than a shortage of ours
				first = a.err
			}
		case <-delay.C:
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("none of %d addresses answered: %w", len(addrs), context.Cause(ctx))
		}
		if begun < len(addrs) {
			begin(begun)
			begun++
			delay.Reset(d.options.AttemptDelay)
		}
	}
	if len(addrs) > 1 {
		return nil, 0, fmt.Errorf("none of %d addresses answered, the first: %w", len(addrs), first)
	}
	return nil, 0, first
}

// closeLate waits for attempts that lost and closes what they made after all.
func closeLate(results <-chan attempt, n int) {
	for range n {
		if a := <-results; a.c != nil {
			_ = a.c.Close()
		}
	}
}
