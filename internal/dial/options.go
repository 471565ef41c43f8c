package dial

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"edgeproxy/internal/rescue"
)

// Options configure a Dialer. Zero values mean the defaults.
type Options struct {
	// Lookup returns the addresses of a host in the order of preference (RFC 6724).
	// It must return when its context ends, and must not keep the slice. The
	// default is the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect makes a connection to one address. It must return when its context
	// ends. The default is a net.Dialer.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)

	// Panics notes those of Lookup and Connect, which then have failed; nil notes none.
	Panics *rescue.Counter

	// Fresh is how long an answer is used without asking again: the resolver does
	// not say how long it may be. For as long again it is used while a lookup runs
	// in the background. Default 30s.
	Fresh time.Duration
	// Patience is how long a dial waits for a lookup when it has an older answer.
	// Default 1s.
	Patience time.Duration
	// Keep is how long an answer is used when lookups fail. Default 24h.
	Keep time.Duration
	// LookupTimeout bounds one lookup. Default 5s.
	LookupTimeout time.Duration
	// Interval is the least time between two lookups of a name that has an answer.
	// Default 1s.
	Interval time.Duration
	// AttemptDelay is how long one address is waited for before the next is tried
	// beside it. Default 250ms, as RFC 8305 section 5 recommends.
	AttemptDelay time.Duration
}

// maxAddresses is how many addresses of a name are used.
const maxAddresses = 16

func (o *Options) setDefaults() {
	o.Fresh = cmp.Or(o.Fresh, 30*time.Second)
	o.Patience = cmp.Or(o.Patience, time.Second)
	o.Keep = cmp.Or(o.Keep, 24*time.Hour)
	o.LookupTimeout = cmp.Or(o.LookupTimeout, 5*time.Second)
	o.Interval = cmp.Or(o.Interval, time.Second)
	o.AttemptDelay = cmp.Or(o.AttemptDelay, 250*time.Millisecond)
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Connect == nil {
		o.Connect = new(net.Dialer).DialContext
	}
}
