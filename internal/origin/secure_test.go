package origin

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/test/testkit"
)

// overTLS plays s on TLS connections. A handshake that fails ends the connection.
func overTLS(config *tls.Config, s script) script {
	return func(n int, p *peer) {
		c := tls.Server(&holding{Conn: p.Conn}, config)
		if c.Handshake() == nil {
			s(n, &peer{Conn: c, br: bufio.NewReader(c)})
		}
	}
}

// startTLS returns an Origin that plays s over TLS, with a certificate for
// 127.0.0.1 that it trusts.
func startTLS(tb testing.TB, s script) *Origin {
	tb.Helper()
	a := testkit.NewAuthority(tb)
	return start(tb, Options{TLS: &tls.Config{RootCAs: a.Pool()}}, overTLS(&tls.Config{Certificates: []tls.Certificate{a.Good("127.0.0.1")}}, s))
}

// state returns what a peer's handshake agreed on.
func state(p *peer) tls.ConnectionState {
	c, _ := p.Conn.(*tls.Conn)
	return c.ConnectionState()
}

func TestTLSConnectionIsUsedAgain(t *testing.T) {
	var conns atomic.Int32
	o := startTLS(t, func(_ int, p *peer) {
		conns.Add(1)
		for r := p.request(); r != ""; r = p.request() {
			if strings.HasPrefix(r, "POST") {
				_, _ = p.br.Discard(len("abc"))
			}
			p.say(okWire)
		}
	})
	for range 3 {
		wantBody(t, o, get("/"), "ok")
	}
	wantBody(t, o, &Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader("abc"), ContentLength: 3}, "ok")
	wantBody(t, o, get("/"), "ok")
	if n := conns.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

func TestTLSNamesServerAndProtocol(t *testing.T) {
	a := testkit.NewAuthority(t)
	f := func(name, certificate, want string) {
		t.Helper()
		seen := make(chan tls.ConnectionState, 1)
		o := start(t, Options{TLS: &tls.Config{RootCAs: a.Pool(), ServerName: name}}, overTLS(
			&tls.Config{Certificates: []tls.Certificate{a.Good(certificate)}, NextProtos: []string{"h2", "http/1.1"}},
			func(n int, p *peer) {
				seen <- state(p)
				each(okWire)(n, p)
			}))
		wantBody(t, o, get("/"), "ok")
		if s := <-seen; s.ServerName != want || s.NegotiatedProtocol != "http/1.1" || s.Version != tls.VersionTLS13 {
			t.Errorf("ServerName %q: got name %q, protocol %q and version %x", name, s.ServerName, s.NegotiatedProtocol, s.Version)
		}
	}
	f("app.test", "app.test", "app.test")
	f("", "127.0.0.1", "") // an address is verified, and never sent (RFC 6066 section 3)
}

func TestTLSNameIsTheHostOfTheAddress(t *testing.T) {
	c := clientConfig(&tls.Config{}, "app.test:8443", protocolsOf(false))
	if c.ServerName != "app.test" || c.ClientSessionCache == nil {
		t.Errorf("got name %q and sessions %v, want app.test and some", c.ServerName, c.ClientSessionCache)
	}
}

// A server that is not who it should be gets no request, and is not asked twice.
func TestCertificateIsVerified(t *testing.T) {
	a := testkit.NewAuthority(t)
	f := func(name string, roots *x509.CertPool, certificate tls.Certificate, want string) {
		t.Helper()
		var conns, requests atomic.Int32
		o := start(t, Options{TLS: &tls.Config{RootCAs: roots}}, func(n int, p *peer) {
			conns.Add(1)
			overTLS(&tls.Config{Certificates: []tls.Certificate{certificate}}, func(_ int, p *peer) {
				if p.request() != "" {
					requests.Add(1)
				}
			})(n, p)
		})
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "TLS handshake with ") {
			t.Errorf("%s: got error %v, want %q in it", name, err, want)
		}
		if conns.Load() != 1 || requests.Load() != 0 || openCount(o) != 0 {
			t.Errorf("%s: got %d connections, %d requests and %d slots in use, want 1, 0, 0", name, conns.Load(), requests.Load(), openCount(o))
		}
	}
	f("expired", a.Pool(), a.Sign(time.Now().Add(-time.Minute), "127.0.0.1"), "certificate has expired")
	f("wrong name", a.Pool(), a.Good("other.test"), "127.0.0.1")
	f("unknown authority", x509.NewCertPool(), a.Good("127.0.0.1"), "signed by unknown authority")
}

func TestClientCertificateIsShown(t *testing.T) {
	a := testkit.NewAuthority(t)
	server := &tls.Config{
		Certificates: []tls.Certificate{a.Good("127.0.0.1")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool(),
	}
	with := start(t, Options{TLS: &tls.Config{RootCAs: a.Pool(), Certificates: []tls.Certificate{a.Good("edge.test")}}},
		overTLS(server, each(okWire)))
	wantBody(t, with, get("/"), "ok")

	without := start(t, Options{TLS: &tls.Config{RootCAs: a.Pool()}}, overTLS(server, each(okWire)))
	_, _, err := fetch(without, get("/"))
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("got error %v, want the server's: certificate required", err)
	}
}

func TestTLSSessionIsResumed(t *testing.T) {
	resumed := make(chan bool, 2)
	o := startTLS(t, func(_ int, p *peer) {
		resumed <- state(p).DidResume
		p.request()
		p.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
		p.untilClosed()
	})
	wantBody(t, o, get("/"), "ok")
	wantBody(t, o, get("/"), "ok")
	if first, second := <-resumed, <-resumed; first || !second {
		t.Errorf("got resumed %v and then %v, want a session that is used again", first, second)
	}
}

const poisonWire = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

// What TLS has read and not given out is not on the socket any more, and still is
// an answer to nothing that was asked.
func TestStrayResponseUnderTLSIsNeverHandedOut(t *testing.T) {
	for _, name := range []string{"in the same record", "in another record of the same write", "later"} {
		t.Run(name, func(t *testing.T) {
			read := make(chan struct{})
			o := startTLS(t, func(n int, p *peer) {
				p.request()
				switch {
				case n > 0:
					p.say(okWire)
				case name == "in the same record":
					p.say(okWire + poisonWire)
				case name == "later":
					p.say(okWire)
					<-read
					p.say(poisonWire)
				default:
					sayTogether(p, okWire, poisonWire)
				}
				p.untilClosed()
			})
			wantBody(t, o, get("/one"), "ok")
			close(read)
			eventually(t, "the connection is not used again", func() bool { return idleCount(o) == 0 || idleSpoilt(o) })
			wantBody(t, o, get("/two"), "ok")
		})
	}
}

// sayTogether sends two records in one write to the socket.
func sayTogether(p *peer, first, second string) {
	c, _ := p.Conn.(*tls.Conn)
	h, _ := c.NetConn().(*holding)
	h.hold = true
	p.say(first)
	p.say(second)
	_, _ = h.Conn.Write(h.held)
}

// holding is a socket that keeps back what is written, if it shall.
type holding struct {
	net.Conn
	hold bool
	held []byte
}

func (h *holding) Write(p []byte) (int, error) {
	if !h.hold {
		return h.Conn.Write(p)
	}
	h.held = append(h.held, p...)
	return len(p), nil
}

func TestTLSQuietLeavesTheConnectionAsItIs(t *testing.T) {
	o := startTLS(t, each(okWire))
	wantBody(t, o, get("/"), "ok")
	for range 100 {
		if idleCount(o) != 1 || idleSpoilt(o) {
			t.Fatal("a quiet connection became unusable by looking at it")
		}
	}
	wantBody(t, o, get("/"), "ok")
}

// Without framing only the alert that closes TLS says that the body is whole:
// anybody on the path can end a TCP connection (RFC 9112 section 9.8).
func TestTLSEndWithoutAlertIsACut(t *testing.T) {
	f := func(alert bool) {
		t.Helper()
		o := startTLS(t, func(_ int, p *peer) {
			p.request()
			p.say("HTTP/1.1 200 OK\r\n\r\nbody")
			if alert {
				p.Close()
			}
		})
		_, got, err := fetch(o, get("/"))
		if got != "body" || alert != (err == nil) {
			t.Errorf("alert %v: got %q and error %v, want body and an error only without the alert", alert, got, err)
		}
		if !alert {
			wantKind(t, err, Cut)
		}
	}
	f(true)
	f(false)
}

func TestIdleTLSConnectionTakesLeave(t *testing.T) {
	ended := make(chan error, 1)
	o := startTLS(t, func(_ int, p *peer) {
		p.request()
		p.say(okWire)
		_, err := p.Read(make([]byte, 1))
		ended <- err
	})
	wantBody(t, o, get("/"), "ok")
	o.Close()
	if err := <-ended; err == nil || err.Error() != "EOF" {
		t.Errorf("the server saw %v, want EOF: the alert came", err)
	}
}

func TestHandshakeIsWithinTheConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{TLS: &tls.Config{}, Settings: Settings{ConnectTimeout: 2 * time.Second}}, func(_ int, p *peer) { p.untilClosed() })
		begun := time.Now()
		_, err := o.RoundTrip(t.Context(), get("/"))
		wantKind(t, err, Connect)
		if e, _ := errors.AsType[*Error](err); !e.Timeout() || time.Since(begun) != 2*time.Second {
			t.Errorf("got error %v after %v, want a timeout after one ConnectTimeout", err, time.Since(begun))
		}
	})
}

func TestContextEndsAHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inMemory(t, Options{TLS: &tls.Config{}}, func(_ int, p *peer) { p.untilClosed() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := o.RoundTrip(ctx, get("/"))
		wantKind(t, err, Canceled)
	})
}
