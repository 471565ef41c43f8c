package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestShortagesAreLocal(t *testing.T) {
	dialled := func(err syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", err)}
	}
	f := func(err error, want bool) {
		t.Helper()
		var l *LocalError
		if got := errors.As(local(err), &l); got != want || !errors.Is(local(err), err) {
			t.Errorf("%v: got local %v, want %v", err, got, want)
		}
	}
	for _, err := range shortages {
		f(dialled(err), true)
		f(fmt.Errorf("none of 3 addresses answered, the first: %w", dialled(err)), true)
		f(&net.DNSError{Err: "dial udp 127.0.0.1:53: socket: " + err.Error()}, true)
	}
	f(dialled(syscall.ECONNREFUSED), false)
	f(dialled(syscall.EHOSTUNREACH), false)
	f(&net.DNSError{Err: "no such host", IsNotFound: true}, false)
	f(context.DeadlineExceeded, false)
}

// A machine without IPv6 has no address for it. The server that refuses by IPv4 has
// refused.
func TestAnswerGoesBeforeAShortage(t *testing.T) {
	f := func(first, second syscall.Errno, want bool) {
		t.Helper()
		d := New(Options{
			Lookup: func(context.Context, string) ([]netip.Addr, time.Duration, error) {
				return []netip.Addr{netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")}, 0, nil
			},
			Connect: func(_ context.Context, _, address string) (net.Conn, error) {
				if address == "[::1]:80" {
					return nil, first
				}
				return nil, second
			},
		})
		defer d.Close()
		_, err := d.Dial(t.Context(), "tcp", "host:80")
		var l *LocalError
		if got := errors.As(err, &l); got != want {
			t.Errorf("%v and %v: got %v, local %v, want %v", first, second, err, got, want)
		}
	}
	f(syscall.EADDRNOTAVAIL, syscall.ECONNREFUSED, false)
	f(syscall.ECONNREFUSED, syscall.EADDRNOTAVAIL, false)
	f(syscall.EADDRNOTAVAIL, syscall.EADDRNOTAVAIL, true)
}
