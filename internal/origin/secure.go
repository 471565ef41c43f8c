package origin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// maxSessions is how many TLS sessions are kept for one server. Each new connection
// takes one, and adds the newer ones that the server gives it.
const maxSessions = 64

// clientConfig completes base for connections to address: the server's name is
// the host of the address unless base has one, sessions are resumed (RFC 8446
// section 2.2), and no other protocol is offered (RFC 7301).
func clientConfig(base *tls.Config, address string, protocols []string) *tls.Config {
	c := base.Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(address) // validated by then
	}
	if c.ClientSessionCache == nil {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(maxSessions)
	}
	c.NextProtos = protocols
	return c
}

// secure makes the handshake on a fresh connection and returns what then carries
// the exchanges. After an error socket is closed.
func secure(ctx context.Context, socket net.Conn, config *tls.Config) (*conn, error) {
	w := &tlsSocket{Conn: socket}
	t, err := handshake(ctx, w, config)
	if err != nil {
		return nil, err
	}
	c := newConn(t)
	c.socket, c.tlsSocket = socket, w
	c.quiet = tlsQuiet(t, w, socketQuiet(socket))
	return c, nil
}

// handshake begins TLS on socket, which is closed after an error.
func handshake(ctx context.Context, socket net.Conn, config *tls.Config) (*tls.Conn, error) {
	t := tls.Client(socket, config)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = socket.Close()
		return nil, fmt.Errorf("TLS handshake with %s failed: %w", config.ServerName, err)
	}
	return t, nil
}

// tlsSocket is the socket under TLS. While cutOff is set, its Read fails, so that TLS
// returns only what it has read already.
type tlsSocket struct {
	net.Conn
	cutOff bool
	noWait *turn // not nil: reads do not wait
	ended  bool  // the end of the TCP connection was read
}

func (w *tlsSocket) Read(p []byte) (n int, err error) {
	if w.cutOff {
		return 0, errCutOff
	}
	if w.noWait != nil {
		n, err = w.noWait.readNow(p)
	} else {
		n, err = w.Conn.Read(p)
	}
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

// errCutOff is temporary in the sense of net.Error: TLS can be read again after it.
var errCutOff error = cutOffError{}

type cutOffError struct{}

func (cutOffError) Error() string   { return "the socket is not read now" }
func (cutOffError) Timeout() bool   { return true }
func (cutOffError) Temporary() bool { return true }

// tlsQuiet returns a function that reports whether nothing has arrived that was
// not handed out: neither on the socket, as far as quiet can tell (nil: it
// cannot), nor in what TLS has read of it. It must not run beside a read.
func tlsQuiet(t *tls.Conn, w *tlsSocket, quiet func() bool) func() bool {
	return func() bool {
		if quiet != nil && !quiet() {
			return false
		}
		w.cutOff = true
		defer func() { w.cutOff = false }()
		n, err := t.Read(make([]byte, 1))
		return n == 0 && errors.Is(err, errCutOff)
	}
}

// untrusted reports whether err is about the server's certificate. Asking again
// would show the same one.
func untrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}
