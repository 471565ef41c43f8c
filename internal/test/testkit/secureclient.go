package testkit

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
)

// SecureClient returns a client that asks the server at address for https://www.example.com, by HTTP/2 or by HTTP/1.1.
// It takes any certificate.
func SecureClient(tb testing.TB, address string, two bool) *http.Client {
	tb.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!two)
	protocols.SetHTTP2(two)
	tr := &http.Transport{
		Protocols: protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "www.example.com"},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	}
	tb.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: Patience}
}
