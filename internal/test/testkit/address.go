package testkit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
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

// given are the addresses that were returned, and those that were looked at for being free:
// a look is a listener there for a moment, which would be in the way of the test that was
// given the address.
var given sync.Map

// Ports that are asked for by number, of those that no system hands out by itself: a
// connection's own end and a listener at port 0 have one from 32768 on.
const firstPort, lastPort = 10000, 32000

func freeAddress(tb testing.TB, host string) string {
	tb.Helper()
	for {
		address := net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort)))
		if _, taken := given.LoadOrStore(address, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			tb.Fatal(err)
		}
	}
}
