package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// guests are connections of a ConnLimiter, by name.
type guests struct {
	t       *testing.T
	c       *ConnLimiter
	servers map[string]net.Conn
	clients map[string]net.Conn
}

// crowded runs f in a bubble of virtual time.
func crowded(t *testing.T, o ConnLimits, f func(g *guests)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(&guests{t, NewConnLimiter(o, nil), map[string]net.Conn{}, map[string]net.Conn{}})
	})
}

// come has a connection come, a millisecond after what was before.
func (g *guests) come(name, ip string, stays bool) {
	g.t.Helper()
	time.Sleep(time.Millisecond)
	g.servers[name], g.clients[name] = conn(g.t, ip)
	if got := g.c.admit(g.servers[name], false); got != stays {
		g.t.Errorf("%s: got %v, want %v", name, got, stays)
	}
}

// asks has connections ask and get their answer, one after the other.
func (g *guests) asks(names ...string) {
	for _, name := range names {
		time.Sleep(time.Millisecond)
		g.c.Busy(g.servers[name])
		g.c.Idle(g.servers[name])
	}
}

// left checks which connections are open.
func (g *guests) left(names ...string) {
	g.t.Helper()
	open := map[string]bool{}
	for name, c := range g.clients {
		_ = c.SetReadDeadline(time.Now())
		_, err := c.Read(make([]byte, 1))
		open[name] = errors.Is(err, os.ErrDeadlineExceeded)
	}
	for _, name := range names {
		if !open[name] {
			g.t.Errorf("%s was closed", name)
		}
		delete(open, name)
	}
	for name, is := range open {
		if is {
			g.t.Errorf("%s is open", name)
		}
	}
}

// TestTheLongestIdleGoesForANewcomer: at limits.connections newcomers were refused while
// others held connections that they did not use.
func TestTheLongestIdleGoesForANewcomer(t *testing.T) {
	crowded(t, ConnLimits{Connections: 3}, func(g *guests) {
		g.come("a", "192.0.2.1", true)
		g.come("b", "192.0.2.2", true)
		g.come("c", "192.0.2.3", true)
		g.asks("a", "b", "c", "a") // b has waited for longest
		g.come("d", "192.0.2.4", true)
		g.left("a", "c", "d")
		g.asks("d", "c")
		g.come("e", "192.0.2.5", true)
		g.left("c", "d", "e")
		g.c.Busy(g.servers["e"])
		g.come("f", "192.0.2.6", true) // for d
		g.c.Busy(g.servers["f"])
		g.c.Busy(g.servers["c"])
		g.come("g", "192.0.2.7", false)
		g.left("c", "e", "f")
		g.c.Idle(g.servers["e"])
		g.come("h", "192.0.2.8", true)
		g.left("c", "f", "h")
		if got := g.c.LetGo(); got != (LetGo{Idle: 4}) {
			g.t.Errorf("got %+v, want four", got)
		}
		if all, one := g.c.Refused(); all != 1 || one != 0 {
			g.t.Errorf("got %d and %d refused, want one", all, one)
		}
		for _, server := range g.servers {
			g.c.Leave(server)
			g.c.Leave(server)
		}
		g.c.empty(g.t)
	})
}

// TestANewConnectionHasAGrace: it may say nothing for the time of some round trips, and
// counts as idle then.
func TestANewConnectionHasAGrace(t *testing.T) {
	crowded(t, ConnLimits{Connections: 2}, func(g *guests) {
		g.come("a", "192.0.2.1", true)
		g.come("b", "192.0.2.2", true)
		g.come("c", "192.0.2.3", false)
		time.Sleep(silentGrace - 4*time.Millisecond)
		g.come("d", "192.0.2.4", false)
		g.come("e", "192.0.2.5", true)
		g.left("b", "e")
	})
}

// TestAClientsOwnIdleGoFirst: at connections_per_address they held its places.
func TestAClientsOwnIdleGoFirst(t *testing.T) {
	crowded(t, ConnLimits{Connections: 4, PerAddress: 2}, func(g *guests) {
		g.come("other", "192.0.2.1", true)
		g.asks("other")
		g.come("a", "192.0.2.2", true)
		g.come("b", "192.0.2.2", true)
		g.asks("b", "a")
		g.come("c", "192.0.2.2", true)
		g.left("other", "a", "c")
		g.c.Busy(g.servers["c"])
		g.c.Busy(g.servers["a"])
		g.come("d", "192.0.2.2", false)
		g.left("other", "a", "c")
		if got := g.c.LetGo(); got != (LetGo{IdleOfClient: 1}) {
			g.t.Errorf("got %+v, want one of a client", got)
		}
		if all, one := g.c.Refused(); all != 0 || one != 1 {
			g.t.Errorf("got %d and %d refused, want one of a client", all, one)
		}
	})
}

// TestSilentConnectionsPushNobodyOut: a flood of connections that say nothing takes the places
// of its own network, not those of clients that have asked.
func TestSilentConnectionsPushNobodyOut(t *testing.T) {
	crowded(t, ConnLimits{Connections: 80}, func(g *guests) {
		for _, name := range []string{"a", "b", "c"} {
			g.come(name, "192.0.2.1", true)
			g.asks(name)
		}
		g.come("first of the flood", "203.0.113.1", true)
		g.come("second of the flood", "203.0.113.1", true)
		for range 75 {
			g.come("flood", "203.0.113.1", true)
		}
		g.come("honest", "198.51.100.1", true)
		g.come("last of the flood", "203.0.113.1", true)
		g.left("a", "b", "c", "flood", "honest", "last of the flood")
		if got := g.c.LetGo(); got != (LetGo{Silent: 2}) {
			g.t.Errorf("got %+v, want two silent ones", got)
		}
	})
}

// TestASilentFloodLockedOutItsAddress: at either limit the newest connection of the client with the most silent ones was refused,
// and an honest client with the same address, as behind a load balancer, always has the newest.
func TestASilentFloodLockedOutItsAddress(t *testing.T) {
	for name, limits := range map[string]ConnLimits{"of all": {Connections: 80}, "of a client": {Connections: 1000, PerAddress: 80}} {
		crowded(t, limits, func(g *guests) {
			g.come("from before", "192.0.2.1", true)
			g.asks("from before")
			for range 79 {
				g.come("flood", "192.0.2.1", true)
			}
			stay := []string{"from before", "flood"}
			for i := range 20 {
				honest := fmt.Sprint("honest ", i)
				stay = append(stay, honest)
				g.come(honest, "192.0.2.1", true)
				g.come("flood", "192.0.2.1", true)
				g.asks(honest)
			}
			g.left(stay...)
			if got := g.c.LetGo(); got != (LetGo{Silent: 40}) {
				t.Errorf("%s: got %+v, want 40 silent ones", name, got)
			}
			if all, one := g.c.Refused(); all != 0 || one != 0 {
				t.Errorf("%s: got %d and %d refused, want none", name, all, one)
			}
		})
	}
}

// TestWhoIsLetGoWhileItAsksIsClosedBehindTheAnswer: the request that came in this moment is
// answered, and the place is given once.
func TestWhoIsLetGoWhileItAsksIsClosedBehindTheAnswer(t *testing.T) {
	crowded(t, ConnLimits{Connections: 1}, func(g *guests) {
		g.come("a", "192.0.2.1", true)
		g.asks("a")
		m := g.c.find(g.servers["a"])
		seen := m.state.Load()
		if !m.dropIfIdle(seen) || m.dropIfIdle(seen) {
			t.Error("let go twice, or not at all")
		}
		g.c.mu.Lock()
		g.c.drop(m)
		g.c.mu.Unlock()
		g.c.Busy(g.servers["a"])
		if got := m.state.Load(); got != dropped {
			t.Errorf("got the state %d, want gone", got)
		}
		g.left("a")
		g.c.Idle(g.servers["a"])
		g.left()
		g.c.Leave(g.servers["a"])
		g.c.empty(t)
	})
}

// TestManyIdleGoInTheirOrder: also where a look notes a part of them.
func TestManyIdleGoInTheirOrder(t *testing.T) {
	const n = 5 * minCandidates
	synctest.Test(t, func(t *testing.T) {
		c := NewConnLimiter(ConnLimits{Connections: n}, nil)
		var servers []net.Conn
		enter := func() {
			t.Helper()
			time.Sleep(time.Millisecond)
			server, _ := conn(t, "192.0.2.1")
			if !c.admit(server, false) {
				t.Fatal("refused")
			}
			c.Busy(server)
			servers = append(servers, server)
		}
		for range n {
			enter()
		}
		order := make([]net.Conn, 0, n)
		for i := range n { // 7 has no part in n
			time.Sleep(time.Millisecond)
			server := servers[(i*7)%n]
			c.Idle(server)
			order = append(order, server)
		}
		for i, server := range order {
			enter()
			if state := c.find(server).state.Load(); state != dropped {
				t.Fatalf("newcomer %d: that which has waited for longest is in state %d, want gone", i, state)
			}
		}
		if got := c.LetGo(); got != (LetGo{Idle: n}) {
			t.Errorf("got %+v, want %d", got, n)
		}
	})
}

// TestConnLimiterAtItsLimitUnderLoad has connections come, ask and leave at once; for the race
// detector, and for the count.
func TestConnLimiterAtItsLimitUnderLoad(t *testing.T) {
	const limit = 20
	c := NewConnLimiter(ConnLimits{Connections: limit, PerAddress: limit / 2}, nil)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 500 {
				client, s := net.Pipe()
				server := from{s, &net.TCPAddr{IP: net.IPv4(192, 0, 2, byte(i%4)), Port: 1}}
				if c.admit(server, false) {
					for range 3 {
						c.Busy(server)
						c.Idle(server)
					}
					c.Leave(server)
				}
				_ = client.Close()
				c.mu.Lock()
				n := len(c.all.conns)
				c.mu.Unlock()
				if n > limit {
					t.Errorf("got %d connections, want at most %d", n, limit)
				}
			}
		})
	}
	all.Wait()
	c.empty(t)
}

func TestConnLimiterAllocatesNothingInARequest(t *testing.T) {
	c := NewConnLimiter(ConnLimits{Connections: 2}, nil)
	ln := mustOpen(t, Options{Address: "127.0.0.1:0", Limiter: c})
	accepted := make(chan net.Conn, 1)
	go func() {
		server, _ := ln.Accept()
		accepted <- server
	}()
	dialFrom(t, "127.0.0.1", ln.Addr().String())
	server := <-accepted
	defer server.Close()
	if n := testing.AllocsPerRun(1000, func() {
		c.Busy(server)
		c.Idle(server)
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	c := NewConnLimiter(ConnLimits{Connections: 1000}, nil)
	var servers []net.Conn
	for range 1000 {
		server := &net.TCPConn{}
		c.add(&limitedConn{conn: server, tcp: server})
		servers = append(servers, server)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Busy(servers[i%len(servers)])
		c.Idle(servers[i%len(servers)])
	}
}
