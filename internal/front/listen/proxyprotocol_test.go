package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const line4 = "PROXY TCP4 192.0.2.1 10.0.0.1 56789 80\r\n"

// pipeListener accepts what is sent to it.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// connect returns the client's end of a new connection, which comes from 10.0.0.9.
func (l *pipeListener) connect() net.Conn { return l.connectFrom("10.0.0.9") }

func (l *pipeListener) connectFrom(ip string) net.Conn {
	client, server := net.Pipe()
	l.conns <- from{server, &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
	return client
}

// withProxyHeader is a listener that reads headers, in a bubble of virtual time.
func withProxyHeader(t *testing.T, o Options) (*proxyListener, *pipeListener) {
	t.Helper()
	pipes := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 100
	}
	o.Peers, o.HeaderTimeout, o.Log = &Peers{}, 10*time.Second, slog.New(slog.DiscardHandler)
	if o.Limiter != nil {
		o.Limiter.peers = o.Peers
	}
	l := newProxyListener(pipes, o)
	t.Cleanup(func() { _ = l.Close() })
	return l, pipes
}

func (l *proxyListener) empty(t *testing.T) {
	t.Helper()
	l.peers.told.Range(func(conn, client any) bool {
		t.Errorf("still known: %v of %v", client, conn)
		return true
	})
	if n := l.silent.len(); n != 0 {
		t.Errorf("still there: %d that wait for their header", n)
	}
}

// closedAt waits until conn is closed by the other end.
func closedAt(t *testing.T, conn net.Conn) time.Time {
	t.Helper()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the connection closed", err)
	}
	return time.Now()
}

func TestASilentPeerHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{})
		begun := time.Now()
		silent, slow := pipes.connect(), pipes.connect()
		go func() {
			for _, b := range []byte(line4) {
				if _, err := slow.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second) // the bubble's time
			}
		}()
		quick := pipes.connect()
		go func() { _, _ = io.WriteString(quick, line4+"hello") }()
		server, err := l.Accept()
		if err != nil || time.Since(begun) != 0 {
			t.Fatalf("got %v after %v, want the connection at once", err, time.Since(begun))
		}
		hello := make([]byte, 5)
		if _, err := io.ReadFull(server, hello); err != nil || string(hello) != "hello" {
			t.Errorf("got %q, %v, want what follows the header", hello, err)
		}
		for _, conn := range []net.Conn{silent, slow} {
			if at := closedAt(t, conn); at.Sub(begun) != 10*time.Second {
				t.Errorf("closed after %v, want the 10s of HeaderTimeout", at.Sub(begun))
			}
		}
		// The time for the header is no time for what follows.
		time.Sleep(time.Minute)
		go func() { _, _ = io.WriteString(quick, "again") }()
		if _, err := io.ReadFull(server, hello); err != nil || string(hello) != "again" {
			t.Errorf("later: got %q, %v, want again", hello, err)
		}
		l.peers.Forget(server)
		synctest.Wait()
		l.empty(t)
	})
}

// Beyond the limit the newest connection of the peer with the most was closed. A load balancer has one address for all its clients, so those
// that sent no header locked out all others.
func TestConnectionsWithoutAHeaderLockedOutTheirBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{MaxWaiting: 2})
		begun := time.Now()
		waiting := []net.Conn{pipes.connect(), pipes.connect()}
		for range 3 {
			honest := pipes.connect()
			if at := closedAt(t, waiting[0]); at != begun {
				t.Errorf("the oldest silent one was closed after %v, want at once", at.Sub(begun))
			}
			go func() { _, _ = io.WriteString(honest, line4) }()
			if _, err := l.Accept(); err != nil || time.Since(begun) != 0 {
				t.Errorf("got %v after %v, want an honest client at once", err, time.Since(begun))
			}
			waiting = append(waiting[1:], pipes.connect()) // in the place of the honest one
		}
		if cut := l.peers.Cut(); cut != 3 {
			t.Errorf("got %d cut, want 3", cut)
		}
	})
}

// TestSilentPeersKeepNobodyElseOut: those that brought no header kept all others out for the
// time that a header may take.
func TestSilentPeersKeepNobodyElseOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{MaxWaiting: 2})
		begun := time.Now()
		first, _ := pipes.connect(), pipes.connect()
		other := pipes.connectFrom("10.1.0.1")
		if at := closedAt(t, first); at != begun {
			t.Errorf("the oldest silent one was closed after %v, want at once", at.Sub(begun))
		}
		go func() { _, _ = io.WriteString(other, line4) }()
		if _, err := l.Accept(); err != nil || time.Since(begun) != 0 {
			t.Errorf("got %v after %v, want who has come from elsewhere at once", err, time.Since(begun))
		}
		if cut := l.peers.Cut(); cut != 1 {
			t.Errorf("got %d cut, want 1", cut)
		}
	})
}

func TestCloseEndsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{Limiter: NewConnLimiter(ConnLimits{PerAddress: 1}, nil)})
		begun := time.Now()
		silent, ready := pipes.connect(), pipes.connect()
		go func() { _, _ = io.WriteString(ready, line4) }()
		synctest.Wait() // nobody accepts
		for range 2 {
			_ = l.Close()
		}
		for _, conn := range []net.Conn{silent, ready} {
			if at := closedAt(t, conn); at != begun {
				t.Errorf("closed after %v, want at once", at.Sub(begun))
			}
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want closed", err)
		}
		l.empty(t)
		l.limiter.empty(t)
	})
}

func TestTheCrowdCountsWhoWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{Limiter: NewConnLimiter(ConnLimits{PerAddress: 1}, nil)})
		come := func(header string, want bool) (server net.Conn) {
			t.Helper()
			conn := pipes.connect()
			go func() { _, _ = io.WriteString(conn, header) }()
			if want {
				server, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				return server
			}
			if text, _ := io.ReadAll(conn); !strings.HasPrefix(string(text), "HTTP/1.1 429 ") {
				t.Errorf("%q: got %q, want a 429", header, text)
			}
			return nil
		}
		first := come(line4, true)
		come(line4, false)
		come(strings.Replace(line4, "192.0.2.1", "192.0.2.2", 1), true)
		come("PROXY UNKNOWN\r\n", true) // the load balancer's own
		come("PROXY UNKNOWN\r\n", false)
		come(block(proxied, unix, ends1), true)
		come(block(proxied, unix, ends1), true)
		l.limiter.Leave(first)
		l.peers.Forget(first)
		come(line4, true)
	})
}

func TestAConnectionWithoutAHeaderIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, pipes := withProxyHeader(t, Options{})
		begun := time.Now()
		for _, said := range []string{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "PROXY TCP4 a b c d\r\n", block(proxied, tcp4, ends4, []byte("half"))} {
			conn := pipes.connect()
			go func() { _, _ = io.WriteString(conn, said) }()
			if at := closedAt(t, conn); at != begun {
				t.Errorf("%q: closed after %v, want at once", said, at.Sub(begun))
			}
		}
		synctest.Wait()
		l.empty(t)
	})
}

func TestAConnectionIsHandedOnBareBehindItsHeader(t *testing.T) {
	f := func(address, network string) {
		peers := &Peers{}
		ln := mustOpen(t, Options{Address: address, Peers: peers, HeaderTimeout: time.Minute, MaxWaiting: 10})
		at := ln.Addr().String()
		for _, header := range []string{line4, block(proxied, tcp4, ends4)} {
			client, err := net.Dial(network, at)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := io.WriteString(client, header+"request"); err != nil {
				t.Fatal(err)
			}
			server, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			_, isTCP := server.(*net.TCPConn)
			_, isUnix := server.(*net.UnixConn)
			if !isTCP && !isUnix {
				t.Errorf("got a %T, want a bare connection, on which writev works", server)
			}
			request := make([]byte, len("request"))
			if _, err := io.ReadFull(server, request); err != nil || string(request) != "request" {
				t.Errorf("got %q, %v, want what follows the header", request, err)
			}
			want := netip.MustParseAddr("192.0.2.1")
			if got, told := peers.Of(server); !told || got != want {
				t.Errorf("got %v, %v, want %v", got, told, want)
			}
			if got, told := peers.Of(tls.Server(server, &tls.Config{MinVersion: tls.VersionTLS13})); !told || got != want {
				t.Errorf("within TLS: got %v, %v, want %v", got, told, want)
			}
			peers.Forget(server)
			if got, told := peers.Of(server); told {
				t.Errorf("after Forget: got %v", got)
			}
		}
	}
	f("127.0.0.1:0", "tcp")
	f("unix:"+filepath.Join(t.TempDir(), "edge.sock"), "unix")
}

func TestPeersKnowNobodyByDefault(t *testing.T) {
	for _, p := range []*Peers{nil, {}} {
		if got, told := p.Of(from{}); told {
			t.Errorf("got %v", got)
		}
		p.Forget(from{})
		if p.Cut() != 0 {
			t.Error("cut some")
		}
	}
}

func TestPeersAllocateNothing(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	p := &Peers{}
	p.told.Store(client, netip.MustParseAddr("192.0.2.1"))
	if n := testing.AllocsPerRun(1000, func() {
		_, _ = p.Of(client)
		_, _ = p.Of(server)
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

// asked is a connection that has asked before.
type asked struct{ net.Conn }

func (asked) Peer() (netip.Addr, bool) { return netip.MustParseAddr("192.0.2.1"), true }

// TestWhatAConnectionHasAskedOutlastsForget: a request within the process may go on when
// its client's connection is gone.
func TestWhatAConnectionHasAskedOutlastsForget(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	p := &Peers{}
	p.told.Store(server, netip.MustParseAddr("192.0.2.1"))
	p.Forget(server)
	if _, told := p.Of(server); told {
		t.Error("told after Forget")
	}
	if got, told := p.Of(asked{server}); !told || got.String() != "192.0.2.1" {
		t.Errorf("got %v, %v, want what was asked before", got, told)
	}
}
