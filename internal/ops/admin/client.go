package admin

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
)

// Ask sends a request to the listener at address, on a connection of its own, and returns the
// answer, whose body the caller closes. CheckAddress says what an address is. The certificate of an https URL is
// checked against those of the system. An empty token is not sent. A body, if there is one, is JSON. HTTP_PROXY is
// ignored. The error wraps ErrAddress if the address is not one, else that of the connection; both name the address.
func Ask(ctx context.Context, address, method, path, token string, body []byte) (*http.Response, error) {
	base, socket, err := target(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	transport := &http.Transport{DisableKeepAlives: true} // Proxy is nil: HTTP_PROXY is ignored
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return res, nil
}
