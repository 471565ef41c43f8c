package dial

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// hostName is a name that a server of names has. The dot keeps the search list of this machine out.
const hostName = "app.test."

// named returns a dialer that asks s.
func named(t *testing.T, s *testkit.NameServer, o Options) *Dialer {
	t.Helper()
	o.NameServer = s.Address
	d := New(o)
	t.Cleanup(d.Close)
	return d
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
	c, err := d.Dial(ctx, "tcp", hostName+":"+port)
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
	s := testkit.StartNameServer(t)
	s.SetAddresses(hostName, 1, "127.0.0.2 127.0.0.1")
	d := named(t, s, Options{Fresh: time.Nanosecond, Interval: time.Nanosecond})
	port := greeter(t, "127.0.0.1:0", "one")
	wantGreeting(t, d, port, "one")
	s.Fail(true)
	for range 3 {
		wantGreeting(t, d, port, "one")
	}
	other := named(t, s, Options{})
	if _, err := other.Dial(t.Context(), "tcp", hostName+":"+port); err == nil {
		t.Error("a resolver that fails and no answer before: got no error")
	}
}

func TestIPv6OnlyName(t *testing.T) {
	s := testkit.StartNameServer(t)
	s.SetAddresses(hostName, 1, "::1")
	d := named(t, s, Options{})
	if !withoutIPv6(t) {
		wantGreeting(t, d, greeter(t, "[::1]:0", "six"), "six")
	}
}

// Whichever family comes first, the one that answers is found.
func TestEitherFamilyIsEnough(t *testing.T) {
	s := testkit.StartNameServer(t)
	s.SetAddresses(hostName, 1, "127.0.0.1 ::1")
	d := named(t, s, Options{})
	wantGreeting(t, d, greeter(t, "127.0.0.1:0", "four"), "four")
	if !withoutIPv6(t) {
		wantGreeting(t, d, greeter(t, "[::1]:0", "six"), "six")
	}
}
