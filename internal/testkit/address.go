package testkit

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
)

// FreeAddress returns an address of 127.0.0.1 that was free a moment ago. It returns none
// twice.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	return freeAddress(tb, "127.0.0.1")
}

// QuietHost is of the loopback, and of this process: neither is a client's end of a
// connection there, which takes any port that is free, nor do other tests listen there.
var QuietHost = quietHost()

func quietHost() string {
	if runtime.GOOS != "linux" { // the others are not there unless set up
		return "127.0.0.1"
	}
	pid := os.Getpid() // below 1<<22
	return fmt.Sprintf("127.%d.%d.%d", 64+pid>>16, pid>>8&0xff, pid&0xff)
}

// QuietAddress is FreeAddress where nothing takes the address meanwhile.
func QuietAddress(tb testing.TB) string {
	tb.Helper()
	return freeAddress(tb, QuietHost)
}

// given are the addresses that were returned: tests that run side by side would be given
// the same one now and then.
var given sync.Map

func freeAddress(tb testing.TB, host string) string {
	tb.Helper()
	for {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			tb.Fatal(err)
		}
		address := l.Addr().String()
		_ = l.Close()
		if _, taken := given.LoadOrStore(address, true); !taken {
			return address
		}
	}
}
