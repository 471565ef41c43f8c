package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/route/client"
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
	// of their handshake. Beyond it the oldest handshake of the client with the most is cut.
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

// Secure makes the TLS handshakes on the connections of a listener, and separates the connections by the
// protocol that was negotiated. Each handshake has a goroutine and a deadline of its own, so a silent
// client holds up nobody, and accepting never waits. Serve runs it; it is safe for concurrent use.
type Secure struct {
	o          SecureOptions
	from       net.Listener
	h1, h2     *Queue
	running    sync.WaitGroup
	handshakes atomic.Int64
	cut        atomic.Int64

	mu        sync.Mutex
	silent    silentSet[*handshake] // handshakes whose ClientHello has not come
	helloSent silentSet[*handshake] // handshakes whose ClientHello has come

	ctx context.Context // ends with Close
	end context.CancelFunc
}

// NewSecure returns a Secure on the connections of ln, which it closes.
func NewSecure(ln net.Listener, o SecureOptions) *Secure {
	s := &Secure{from: ln, h1: NewQueue(ln.Addr()), h2: NewQueue(ln.Addr())}
	config := o.Config.Clone()
	config.NextProtos = []string{protocolH2, protocolH1}
	config.GetConfigForClient = s.onClientHello(o.Config.GetConfigForClient)
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
func (s *Secure) Handshakes() int { return int(s.handshakes.Load()) }

// Cut returns how many were ended because there were too many.
func (s *Secure) Cut() int64 { return s.cut.Load() }

// Serve accepts connections until the listener is closed, and returns why that was. It
// waits for the handshakes under way, and closes both ends.
func (s *Secure) Serve() error {
	defer func() {
		s.running.Wait()
		_, _ = s.h1.Close(), s.h2.Close()
	}()
	for {
		c, err := s.from.Accept()
		if err != nil {
			return err
		}
		h := s.addHandshake(c)
		if h == nil {
			s.drop(c)
			continue
		}
		s.handshakes.Add(1)
		s.running.Go(func() {
			defer s.handshakes.Add(-1)
			s.serveHandshake(h)
		})
	}
}

// handshake is one that is under way.
type handshake struct {
	conn  net.Conn
	who   netip.Prefix
	place *silentEntry[*handshake] // in silent or helloSent; guarded by Secure.mu
}

// addHandshake adds a client whose ClientHello has not come. It returns nil if there are too many and
// this one has to be closed.
func (s *Secure) addHandshake(conn net.Conn) *handshake {
	h := &handshake{conn: conn}
	h.who, _ = client.Of(s.o.Peers.address(conn))
	s.mu.Lock()
	h.place = s.silent.add(h.who, h)
	s.mu.Unlock()
	if !s.makeRoom(&s.silent, h) {
		return nil
	}
	return h
}

// errCut ends a handshake when there are too many.
var errCut = errors.New("too many TLS handshakes at a time")

// gotClientHello notes that the ClientHello of h has come. It returns errCut if h was cut before, or is now.
func (s *Secure) gotClientHello(h *handshake) error {
	s.mu.Lock()
	if !h.place.inSet() {
		s.mu.Unlock()
		return errCut
	}
	h.place.remove()
	h.place = s.helloSent.add(h.who, h)
	s.mu.Unlock()
	if !s.makeRoom(&s.helloSent, h) {
		return errCut
	}
	return nil
}

// mostLookedAt bounds the handshakes that makeRoom looks at for one to cut.
const mostLookedAt = 16

// makeRoom cuts a handshake of set if that has more than it may, and reports whether h, which has just come into set, goes
// on. Of the candidates it cuts the first whose client is what it waits for. One whose client has sent more is waiting for a processor, as many are when
// clients come all at once. If all are, it cuts the last, the newest: to cut others would waste the work on them.
func (s *Secure) makeRoom(set *silentSet[*handshake], h *handshake) (goesOn bool) {
	for {
		var candidates []*silentEntry[*handshake]
		s.mu.Lock()
		if set.len() > s.o.Handshakes {
			candidates = set.candidates(mostLookedAt)
		}
		s.mu.Unlock()
		if len(candidates) == 0 {
			return true
		}
		out := candidates[len(candidates)-1]
		if i := slices.IndexFunc(candidates, waitsForClient); i >= 0 {
			out = candidates[i]
		}
		s.mu.Lock()
		there := out.inSet()
		out.remove()
		s.mu.Unlock()
		if !there { // it has ended, or was cut, meanwhile
			continue
		}
		s.cut.Add(1)
		if out.value == h {
			return false
		}
		closeRead(out.value.conn)
	}
}

// waitsForClient reports whether all that the client of a handshake has sent was read.
func waitsForClient(p *silentEntry[*handshake]) bool { return !hasUnread(p.value.conn) }

// removeHandshake removes a handshake that has ended.
func (s *Secure) removeHandshake(h *handshake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.place.remove()
}

// handshakeKey finds the *handshake in the context of a ClientHello.
type handshakeKey struct{}

// onClientHello returns a GetConfigForClient for a tls.Config. That notes that the ClientHello has
// come, and then calls next, which may be nil.
func (s *Secure) onClientHello(next func(*tls.ClientHelloInfo) (*tls.Config, error)) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if h, ok := hello.Context().Value(handshakeKey{}).(*handshake); ok {
			if err := s.gotClientHello(h); err != nil {
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

// serveHandshake makes the handshake and then passes the connection to H1 or H2. A connection whose client speaks
// without TLS it passes to H1.
func (s *Secure) serveHandshake(h *handshake) {
	conn, c := tls.Server(h.conn, s.o.Config), h.conn
	ctx, end := context.WithTimeout(context.WithValue(s.ctx, handshakeKey{}, h), s.o.HandshakeTimeout)
	plain := speaksPlain(ctx, c)
	var err error
	if !plain {
		err = s.handshake(ctx, conn)
	}
	end()
	s.removeHandshake(h)
	if plain {
		if !s.h1.Put(WithoutTLS{c}) {
			s.drop(c)
		}
		return
	}
	if err != nil {
		s.o.Log.Debug("TLS handshake failed", "client", c.RemoteAddr().String(), "error", err)
		s.drop(c)
		return
	}
	var taken bool
	switch conn.ConnectionState().NegotiatedProtocol {
	case protocolH1, "":
		taken = s.h1.Put(conn)
	case protocolH2:
		taken = s.h2.Put(conn) // net/http wants this type
	default: // acme-tls/1: the handshake is all (RFC 8737 section 3)
		_ = conn.Close()
	}
	if !taken {
		s.drop(c)
	}
}

// handshake makes the TLS handshake. It turns a panic, also of what chooses the certificate, into an error.
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
