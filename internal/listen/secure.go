package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The protocols that clients are offered (RFC 7301).
const (
	protocolH1 = "http/1.1"
	protocolH2 = "h2"
)

// SecureOptions say how connections are secured.
type SecureOptions struct {
	// Config has the certificates and the least version. It must not be changed.
	Config *tls.Config
	// HandshakeTimeout is for how long a client may take for its handshake.
	HandshakeTimeout time.Duration
	// Handshakes is how many may be under way at once. Beyond it the one that has lasted
	// longest gives way to the next client, once it has had Grace.
	Handshakes int
	Grace      time.Duration
	// Gone is told of each connection that does not come out at either end; nil is not.
	Gone func(net.Conn)
	// Log gets the failures, at level debug: clients cause them at will.
	Log *slog.Logger
}

// Secure has TLS spoken on the connections of a listener and parts them by the protocol
// that client and server agree on. Each handshake has a goroutine and a deadline of its
// own, so a silent client holds up nobody. Serve runs it; it is safe for concurrent use.
type Secure struct {
	o       SecureOptions
	from    net.Listener
	h1, h2  *Queue
	slots   chan struct{}
	hands   sync.WaitGroup
	shaking atomic.Int64

	mu      sync.Mutex
	longest list.List // of *handshake, the one that began first in front

	ctx context.Context // ends with Close
	end context.CancelFunc
}

// NewSecure returns a Secure on the connections of ln, which it closes.
func NewSecure(ln net.Listener, o SecureOptions) *Secure {
	config := o.Config.Clone()
	config.NextProtos = []string{protocolH2, protocolH1}
	o.Config = config
	s := &Secure{o: o, from: ln, h1: NewQueue(ln.Addr()), h2: NewQueue(ln.Addr()), slots: make(chan struct{}, o.Handshakes)}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// H1 gives the connections for HTTP/1.1: those of clients that ask for it, or for
// nothing. They do what *tls.Conn does, and Read keeps to a deadline in any case.
func (s *Secure) H1() net.Listener { return s.h1 }

// H2 gives those for HTTP/2.
func (s *Secure) H2() net.Listener { return s.h2 }

// Handshakes returns how many are under way.
func (s *Secure) Handshakes() int { return int(s.shaking.Load()) }

// Serve accepts connections until the listener is closed, and returns why that was. It
// waits for the handshakes under way, and closes both ends.
func (s *Secure) Serve() error {
	defer func() {
		s.hands.Wait()
		_, _ = s.h1.Close(), s.h2.Close()
	}()
	for {
		c, err := s.from.Accept()
		if err != nil {
			return err
		}
		s.shaking.Add(1)
		s.makeRoom()
		s.hands.Go(func() {
			defer func() {
				s.shaking.Add(-1)
				<-s.slots
			}()
			s.shake(c)
		})
	}
}

// makeRoom waits until one handshake more may be under way. Whoever just says nothing would
// keep all others out for the time of a handshake.
func (s *Secure) makeRoom() {
	for {
		select {
		case s.slots <- struct{}{}:
			return
		default:
		}
		t := time.NewTimer(s.giveWay())
		select {
		case s.slots <- struct{}{}:
			t.Stop()
			return
		case <-t.C:
		}
	}
}

// giveWay ends the handshake that has lasted longest, if it has had its grace. It returns
// when to ask again.
func (s *Secure) giveWay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.longest.Front()
	if first == nil {
		return s.o.Grace
	}
	h := first.Value.(*handshake)
	if left := s.o.Grace - time.Since(h.began); left > 0 {
		return left
	}
	s.longest.Remove(first)
	h.end()
	return s.o.Grace // its place comes free before
}

// handshake is one that is under way.
type handshake struct {
	began time.Time
	end   context.CancelFunc
}

// begin notes a handshake, until done is called.
func (s *Secure) begin() (ctx context.Context, done func()) {
	ctx, end := context.WithTimeout(s.ctx, s.o.HandshakeTimeout)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.longest.PushBack(&handshake{began: time.Now(), end: end})
	return ctx, func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.longest.Remove(at) // nothing, if it has given way
	}
}

// Close closes the listener and ends the handshakes under way. Where the listener alone
// is closed, they go on.
func (s *Secure) Close() error {
	s.end()
	return s.from.Close()
}

// shake hands a connection on once the handshake is done.
func (s *Secure) shake(c net.Conn) {
	conn := tls.Server(c, s.o.Config)
	ctx, done := s.begin()
	defer done()
	if err := conn.HandshakeContext(ctx); err != nil {
		s.o.Log.Debug("no TLS", "client", c.RemoteAddr().String(), "error", err)
		s.drop(c)
		return
	}
	var taken bool
	switch conn.ConnectionState().NegotiatedProtocol {
	case protocolH1, "":
		taken = s.h1.Put(&punctual{Conn: conn})
	case protocolH2:
		taken = s.h2.Put(conn) // net/http wants this type
	default: // the handshake was all that was wanted (RFC 8737 section 3)
		_ = conn.Close()
	}
	if !taken {
		s.drop(c)
	}
}

func (s *Secure) drop(c net.Conn) {
	_ = c.Close()
	if s.o.Gone != nil {
		s.o.Gone(c)
	}
}
