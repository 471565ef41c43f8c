package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/client"
	"edgeproxy/internal/rescue"
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
	// Handshakes bounds the clients that have said nothing yet, and also those in the middle
	// of their handshake. Beyond it the newest handshake of the client with the most is cut.
	Handshakes int
	// Peers knows the clients' addresses where they are not those of the connections.
	Peers *Peers
	// Gone is called with each connection that is closed here, so that neither H1 nor H2 gives
	// it; it may be nil.
	Gone func(net.Conn)
	// Panics notes those that end a handshake; nil notes none.
	Panics *rescue.Counter
	// Log gets the failures, at level debug, since clients cause them at will.
	Log *slog.Logger
}

// Secure has TLS spoken on the connections of a listener and parts them by the protocol
// that client and server agree on. Each handshake has a goroutine and a deadline of its
// own, so a silent client holds up nobody, and nobody waits to be accepted. Serve runs it;
// it is safe for concurrent use.
type Secure struct {
	o       SecureOptions
	from    net.Listener
	h1, h2  *Queue
	hands   sync.WaitGroup
	shaking atomic.Int64
	cut     atomic.Int64

	mu    sync.Mutex
	mute  silent[*handshake] // those that have said nothing
	begun silent[*handshake] // those that have said what they want

	ctx context.Context // ends with Close
	end context.CancelFunc
}

// NewSecure returns a Secure on the connections of ln, which it closes.
func NewSecure(ln net.Listener, o SecureOptions) *Secure {
	s := &Secure{from: ln, h1: NewQueue(ln.Addr()), h2: NewQueue(ln.Addr())}
	config := o.Config.Clone()
	config.NextProtos = []string{protocolH2, protocolH1}
	config.GetConfigForClient = s.heard(o.Config.GetConfigForClient)
	o.Config = config
	s.o = o
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// H1 gives the connections for HTTP/1.1: those of clients that ask for it, or for
// nothing. They do what *tls.Conn does, and Read keeps to a deadline in any case. Those of clients that
// speak without TLS are WithoutTLS.
func (s *Secure) H1() net.Listener { return s.h1 }

// H2 gives those for HTTP/2.
func (s *Secure) H2() net.Listener { return s.h2 }

// Handshakes returns how many are under way.
func (s *Secure) Handshakes() int { return int(s.shaking.Load()) }

// Cut returns how many were ended because there were too many.
func (s *Secure) Cut() int64 { return s.cut.Load() }

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
		h := s.enter(c)
		if h == nil {
			s.drop(c)
			continue
		}
		s.shaking.Add(1)
		s.hands.Go(func() {
			defer s.shaking.Add(-1)
			s.shake(h)
		})
	}
}

// handshake is one that is under way.
type handshake struct {
	conn  net.Conn
	who   netip.Prefix
	place *place[*handshake] // among mute or begun; guarded by Secure.mu
}

// enter takes in a client that has said nothing yet. It returns nil where there are too many
// and this one has to go.
func (s *Secure) enter(conn net.Conn) *handshake {
	h := &handshake{conn: conn}
	h.who, _ = client.Of(s.o.Peers.address(conn))
	s.mu.Lock()
	out := s.addLocked(&s.mute, h)
	s.mu.Unlock()
	if !h.outlives(out) {
		return nil
	}
	return h
}

// errCut ends a handshake where there are too many.
var errCut = errors.New("too many handshakes")

// spoke notes that h has said what it wants. The error says that h was cut before, or is now.
func (s *Secure) spoke(h *handshake) error {
	s.mu.Lock()
	if !h.place.held() {
		s.mu.Unlock()
		return errCut
	}
	h.place.leave()
	out := s.addLocked(&s.begun, h)
	s.mu.Unlock()
	if !h.outlives(out) {
		return errCut
	}
	return nil
}

// addLocked puts h into of. Where there are too many then, it takes out the handshake that has
// to go, which may be h, and returns it; otherwise nil.
func (s *Secure) addLocked(of *silent[*handshake], h *handshake) *handshake {
	h.place = of.add(h.who, h)
	if of.len() <= s.o.Handshakes {
		return nil
	}
	p, _ := of.choose()
	p.leave()
	s.cut.Add(1)
	return p.value
}

// outlives ends out, the handshake that had to go, unless that is h itself, and reports
// whether h goes on. A nil out is none.
func (h *handshake) outlives(out *handshake) bool {
	switch out {
	case h:
		return false
	case nil:
	default:
		hangUp(out.conn)
	}
	return true
}

// leave takes out one that is over.
func (s *Secure) leave(h *handshake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.place.leave()
}

// handshakeKey finds the *handshake in the context of a ClientHello.
type handshakeKey struct{}

// heard returns a GetConfigForClient for a tls.Config. It notes that the client has said what
// it wants, and then asks next, which may be nil.
func (s *Secure) heard(next func(*tls.ClientHelloInfo) (*tls.Config, error)) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if h, ok := hello.Context().Value(handshakeKey{}).(*handshake); ok {
			if err := s.spoke(h); err != nil {
				return nil, err
			}
		}
		if next == nil {
			return nil, nil
		}
		return next(hello)
	}
}

// Close closes the listener and ends the handshakes under way. Where the listener alone
// is closed, they go on.
func (s *Secure) Close() error {
	s.end()
	return s.from.Close()
}

// shake hands a connection on once the handshake is done, or its client has shown that it wants none.
func (s *Secure) shake(h *handshake) {
	conn, c := tls.Server(h.conn, s.o.Config), h.conn
	ctx, end := context.WithTimeout(context.WithValue(s.ctx, handshakeKey{}, h), s.o.HandshakeTimeout)
	plain := speaksPlain(ctx, c)
	var err error
	if !plain {
		err = s.handshake(ctx, conn)
	}
	end()
	s.leave(h)
	if plain {
		if !s.h1.Put(WithoutTLS{c}) {
			s.drop(c)
		}
		return
	}
	if err != nil {
		s.o.Log.Debug("no TLS", "client", c.RemoteAddr().String(), "error", err)
		s.drop(c)
		return
	}
	var taken bool
	switch conn.ConnectionState().NegotiatedProtocol {
	case protocolH1, "":
		taken = s.h1.Put(&deadlineConn{Conn: conn})
	case protocolH2:
		taken = s.h2.Put(conn) // net/http wants this type
	default: // the handshake was all that was wanted (RFC 8737 section 3)
		_ = conn.Close()
	}
	if !taken {
		s.drop(c)
	}
}

// handshake is that of TLS. A panic in it, or in what chooses a certificate, is its failure.
func (s *Secure) handshake(ctx context.Context, conn *tls.Conn) (err error) {
	defer s.o.Panics.Into(&err)
	return conn.HandshakeContext(ctx)
}

func (s *Secure) drop(c net.Conn) {
	_ = c.Close()
	if s.o.Gone != nil {
		s.o.Gone(c)
	}
}
