package proxy_test

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
	"edgeproxy/internal/test/testkit"
)

// descriptors returns how many the process has open; 0 where the system does not tell.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// goroutines returns how many there are, without the server's idle workers, which it
// keeps for some seconds.
func goroutines() int {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	n := 0
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if !bytes.Contains(stack, []byte(".workerFunc(")) || bytes.Contains(stack, []byte(".serveConn(")) {
			n++
		}
	}
	return n
}

// TestUpgradeOfMany: hundreds at once, ended by their clients, by their origins and by
// the edge, leave no goroutine and no descriptor behind.
func TestUpgradeOfMany(t *testing.T) {
	many := testkit.Times(500, 100)
	over := make(chan struct{})
	e, _ := startBefore(t, "limits: {origin_share: 1}", consents(func(c *edgetest.Conn) {
		ended := make(chan struct{})
		go func() {
			select {
			case <-over:
				_ = c.Close()
			case <-ended:
			}
		}()
		echoes(c)
		close(ended)
	}))
	ask(t, e, asGet("/a")) // what is made once is made
	running, files := goroutines(), descriptors()
	sockets := make([]*socket, many)
	for i := range sockets {
		sockets[i] = dial(t, e.Address)
	}
	var all sync.WaitGroup
	for _, s := range sockets {
		all.Go(func() {
			s.upgrade(t, "early")
			s.wantNext(t, "early")
			s.exchange(t, "and some more")
		})
	}
	all.Wait()
	if n := e.Proxy.Upgraded(); n != many {
		t.Fatalf("got %d upgraded connections, want %d", n, many)
	}
	for _, s := range sockets[:many/3] {
		_ = s.Close()
	}
	eventually(t, "those of a third of the clients have ended", func() bool { return e.Proxy.Upgraded() == many-many/3 })
	for _, s := range sockets[many/3 : many/2] {
		resetNow(s.Conn)
	}
	eventually(t, "those of half of the clients have ended", func() bool { return e.Proxy.Upgraded() == many-many/2 })
	if n := e.Proxy.EndUpgraded(); n != many-many/2 {
		t.Errorf("got %d ended by the edge, want %d", n, many-many/2)
	}
	close(over)
	for _, s := range sockets {
		_ = s.Close()
	}
	eventually(t, "every goroutine has ended", func() bool { return goroutines() <= running })
	eventually(t, "every descriptor is closed", func() bool { return descriptors() <= files })
}
