package listen

import (
	"crypto/tls"
	"log/slog"
	"net"
	"testing"

	"edgeproxy/internal/conn/rescue"
)

// What chooses a certificate runs in the handshake, and a panic in it ended the process.
func TestPanicInAHandshakeEndsOneConnection(t *testing.T) {
	panics := rescue.NewCounter(slog.New(slog.DiscardHandler))
	gone := make(chan net.Conn, 1)
	s := NewSecure(mustOpen(t, Options{Address: "127.0.0.1:0"}), SecureOptions{
		Config:           &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { panic("trap") }},
		HandshakeTimeout: patience, Handshakes: 4, Gone: func(c net.Conn) { gone <- c }, Panics: panics, Log: slog.New(slog.DiscardHandler),
	})
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	for n := range int64(2) {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		if c, err := d.DialContext(t.Context(), "tcp", s.from.Addr().String()); err == nil {
			_ = c.Close()
			t.Error("got a connection, want none")
		}
		<-gone
		if panics.Count() != n+1 {
			t.Errorf("got %d counted, want %d", panics.Count(), n+1)
		}
	}
	_ = s.Close()
	if err := <-served; err == nil {
		t.Error("Serve ended without an error, want one that says that it was closed")
	}
}
