package listen

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
)

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		":80": "tcp", "0.0.0.0:80": "tcp4", "192.0.2.1:80": "tcp4", "[::ffff:192.0.2.1]:80": "tcp4", "[::]:80": "tcp6", "[2001:db8::1]:80": "tcp6",
		"[fe80::1%eth0]:80": "tcp6", "localhost:80": "tcp", "www.example.com:80": "tcp", "x": "tcp",
	} {
		if got := Network(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// needIPv6 skips the test on a machine without IPv6.
func needIPv6(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6: ", err)
	}
	_ = ln.Close()
}

func portOf(ln net.Listener) string { return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port) }

// besides opens address with the port of a listener at first, and tries again where another program has that port.
func besides(t *testing.T, first, host string) (a, b net.Listener) {
	t.Helper()
	for range 20 {
		a = mustOpen(t, Options{Address: first})
		b, err := openAt(t, Options{Address: host + ":" + portOf(a)})
		if err == nil {
			return a, b
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
	t.Fatalf("%s of one port beside %s: the address is always in use", host, first)
	return nil, nil
}

// With the first of both, the port of the other family was taken.
func TestBothFamiliesOfOnePortDidNotStart(t *testing.T) {
	needIPv6(t)
	f := func(v4, v6 net.Listener) {
		t.Helper()
		echoes(t, v4, "tcp", "127.0.0.1:"+portOf(v4))
		echoes(t, v6, "tcp", "[::1]:"+portOf(v6))
	}
	f(besides(t, "0.0.0.0:0", "[::]"))
	v6, v4 := besides(t, "[::]:0", "0.0.0.0")
	f(v4, v6)
}

func TestAnAddressWithoutAHostIsBothFamilies(t *testing.T) {
	needIPv6(t)
	ln := mustOpen(t, Options{Address: ":0"})
	echoes(t, ln, "tcp", "127.0.0.1:"+portOf(ln))
	echoes(t, ln, "tcp", "[::1]:"+portOf(ln))
}
