package dial

import (
	"cmp"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Go's resolver does not say for how long an answer may be used. It lets its caller make the connections to the servers of names,
// though, and so the messages that come on these can be read beside it.

// resolve returns the addresses of host.
func (o *Options) resolve(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	l := lifetime{server: o.NameServer}
	addrs, err := l.resolver().LookupNetIP(ctx, "ip", host)
	return addrs, l.shortest(), err
}

// resolveSRV returns the SRV records of name.
func (o *Options) resolveSRV(ctx context.Context, name string) ([]*net.SRV, time.Duration, error) {
	l := lifetime{server: o.NameServer}
	_, records, err := l.resolver().LookupSRV(ctx, "", "", name)
	if len(records) > 0 {
		err = nil // the error is about other records, whose targets are no names
	}
	return records, l.shortest(), err
}

// routed reports whether this machine has a route to a. Connecting a UDP socket sends nothing.
func routed(a netip.Addr) bool {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 9)))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// lifetime notes for how long the answers of one lookup may be used.
type lifetime struct {
	server string // is asked in place of those of /etc/resolv.conf; "": they are asked

	mu    sync.Mutex
	known bool
	least time.Duration
}

// resolver returns one for a single lookup, whose answers l notes.
func (l *lifetime) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: l.connect}
}

// connect makes a connection to a server of names.
func (l *lifetime) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, cmp.Or(l.server, address))
	if err != nil {
		return nil, err
	}
	if packets, ok := c.(*net.UDPConn); ok {
		return &heardPackets{packets, l}, nil
	}
	return &heardStream{Conn: c, l: l}, nil
}

// shortest returns the shortest lifetime of all records, but no less than watchLeast; 0: there were none, as with a name in
// /etc/hosts.
func (l *lifetime) shortest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return 0
	}
	return max(l.least, watchLeast)
}

// note notes the lifetimes in a message of a server of names. What cannot be read says nothing.
func (l *lifetime) note(message []byte) {
	var p dnsmessage.Parser
	h, err := p.Start(message)
	if err != nil || !h.Response || h.RCode != dnsmessage.RCodeSuccess || p.SkipAllQuestions() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		record, err := p.AnswerHeader()
		if err != nil {
			return
		}
		ttl := time.Duration(record.TTL) * time.Second
		if record.TTL > 1<<31-1 {
			ttl = 0 // RFC 2181 section 8
		}
		if !l.known || ttl < l.least {
			l.known, l.least = true, ttl
		}
		if p.SkipAnswer() != nil {
			return
		}
	}
}

// heardPackets is a connection by UDP whose messages l notes.
type heardPackets struct {
	*net.UDPConn
	l *lifetime
}

// Read reads one message.
func (c *heardPackets) Read(p []byte) (int, error) {
	n, err := c.UDPConn.Read(p)
	if err == nil {
		c.l.note(p[:n])
	}
	return n, err
}

// heardStream is a connection by TCP whose messages l notes. Each has its length before it (RFC 1035 section 4.2.2).
type heardStream struct {
	net.Conn
	l     *lifetime
	heard []byte // bytes of the message that is being read; at most 64 KiB and what one Read brings
}

// Read reads a part of a message.
func (c *heardStream) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.heard = append(c.heard, p[:n]...)
	for len(c.heard) >= 2 {
		end := 2 + int(binary.BigEndian.Uint16(c.heard))
		if len(c.heard) < end {
			break
		}
		c.l.note(c.heard[2:end])
		c.heard = c.heard[end:]
	}
	return n, err
}
