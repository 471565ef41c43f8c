package dial

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"edgeproxy/internal/conn/rescue"
)

// Options configure a Dialer. Zero values mean the defaults.
type Options struct {
	// Lookup returns the addresses of a host in the order of preference (RFC 6724), and for how long
	// they may be used; 0 is not known. It must return when its context ends, and must not keep the slice. The
	// default is Go's resolver, which reads /etc/hosts and /etc/resolv.conf.
	Lookup func(ctx context.Context, host string) (addrs []netip.Addr, ttl time.Duration, err error)
	// LookupSRV returns the SRV records of a name (RFC 2782), as Lookup does addresses.
	LookupSRV func(ctx context.Context, name string) (records []*net.SRV, ttl time.Duration, err error)
	// NameServer is the address, HOST:PORT, of a server of names that the default Lookup and LookupSRV ask in place of those of
	// /etc/resolv.conf. "" is these.
	NameServer string
	// Routed reports whether this machine has a route to an address. The default asks the system, which sends nothing.
	Routed func(address netip.Addr) bool
	// Connect makes a connection to one address. It must return when its context
	// ends. The default is a net.Dialer.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)

	// Panics notes those of Lookup and Connect, which then have failed; nil notes none.
	Panics *rescue.Counter

	// Fresh is how long an answer is used without asking again, for a dial. For as long again it is used while a lookup runs
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
		o.Lookup = o.resolve
	}
	if o.LookupSRV == nil {
		o.LookupSRV = o.resolveSRV
	}
	if o.Routed == nil {
		o.Routed = routed
	}
	if o.Connect == nil {
		o.Connect = new(net.Dialer).DialContext
	}
}
