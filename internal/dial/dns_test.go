package dial

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/testkit"
)

// responder is a DNS server on a real socket for one name (RFC 1035).
type responder struct {
	address string
	fails   atomic.Bool // SERVFAIL to all
	v4, v6  []netip.Addr
}

const (
	typeA    = 1
	typeAAAA = 28
)

func startResponder(t *testing.T, r *responder) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = pc.LocalAddr().String()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = pc.WriteTo(r.answer(buf[:n]), from)
		}
	}()
	t.Cleanup(func() {
		pc.Close()
		<-ended
	})
}

// answer returns the response to a query with one question.
func (r *responder) answer(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[12 : end+5]
	out := append([]byte{}, query[:2]...)
	if r.fails.Load() {
		return append(append(out, 0x81, 0x82, 0, 1, 0, 0, 0, 0, 0, 0), question...)
	}
	addrs := r.v4
	if binary.BigEndian.Uint16(query[end+1:]) == typeAAAA {
		addrs = r.v6
	}
	out = append(out, 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0)
	out = append(out, question...)
	for _, a := range addrs {
		kind := byte(typeA)
		if a.Is6() {
			kind = typeAAAA
		}
		raw := a.AsSlice()
		out = append(out, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, byte(len(raw)))
		out = append(out, raw...)
	}
	return out
}

// lookup asks the responder as the system's resolver does.
func (r *responder) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", r.address)
	}}
	return resolver.LookupNetIP(ctx, "ip", host)
}

// withoutIPv6 reports whether this machine has no IPv6 at all.
func withoutIPv6(t *testing.T) bool {
	t.Helper()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Logf("IPv6 is not there: %v", err)
		return true
	}
	l.Close()
	return false
}

// greeter accepts on address and says its name.
func greeter(t *testing.T, address, name string) (port string) {
	t.Helper()
	_, port, _ = net.SplitHostPort(testkit.Accept(t, address, func(c net.Conn) {
		_, _ = io.WriteString(c, name+"\n")
		c.Close()
	}))
	return port
}

func wantGreeting(t *testing.T, d *Dialer, port, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	c, err := d.Dial(ctx, "tcp", "app.test.:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := bufio.NewReader(c).ReadString('\n'); got != want+"\n" || err != nil {
		t.Errorf("got %q and error %v, want %q", got, err, want)
	}
}

// Real sockets and a real resolver: an address where nobody listens, one that
// answers, and then a DNS server that fails.
func TestNameIsResolvedAndOutlivesItsResolver(t *testing.T) {
	r := &responder{v4: addresses("127.0.0.2 127.0.0.1")}
	startResponder(t, r)
	d := New(Options{Lookup: r.lookup, Fresh: time.Nanosecond, Interval: time.Nanosecond})
	defer d.Close()
	port := greeter(t, "127.0.0.1:0", "one")
	wantGreeting(t, d, port, "one")
	r.fails.Store(true)
	for range 3 {
		wantGreeting(t, d, port, "one")
	}
	other := New(Options{Lookup: r.lookup})
	defer other.Close()
	if _, err := other.Dial(t.Context(), "tcp", "app.test.:"+port); err == nil {
		t.Error("a resolver that fails and no answer before: got no error")
	}
}

func TestIPv6OnlyName(t *testing.T) {
	r := &responder{v6: addresses("::1")}
	startResponder(t, r)
	d := New(Options{Lookup: r.lookup})
	defer d.Close()
	if !withoutIPv6(t) {
		wantGreeting(t, d, greeter(t, "[::1]:0", "six"), "six")
	}
}

// Whichever family comes first, the one that answers is found.
func TestEitherFamilyIsEnough(t *testing.T) {
	r := &responder{v4: addresses("127.0.0.1"), v6: addresses("::1")}
	startResponder(t, r)
	d := New(Options{Lookup: r.lookup})
	defer d.Close()
	wantGreeting(t, d, greeter(t, "127.0.0.1:0", "four"), "four")
	if !withoutIPv6(t) {
		wantGreeting(t, d, greeter(t, "[::1]:0", "six"), "six")
	}
}
