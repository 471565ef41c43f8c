package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// socketPrefix begins the address of a Unix domain socket.
const socketPrefix = "unix:"

// ErrAddress is what Ask returns, wrapped, for an address of neither form. Its text says what is wanted.
var ErrAddress = errors.New("want HOST:PORT or unix:PATH")

// IsAddress reports whether address has the form HOST:PORT or unix:PATH.
func IsAddress(address string) bool {
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		return path != ""
	}
	_, port, err := net.SplitHostPort(address)
	return err == nil && port != "" && !strings.ContainsAny(address, "/ ")
}

// Ask sends a request to the listener at address, HOST:PORT or unix:PATH, on a connection of its own, and returns the
// answer, whose body the caller closes. An empty token is not sent. A body, if there is one, is JSON. HTTP_PROXY is
// ignored. The error wraps ErrAddress if the address is not one, else that of the connection; both name the address.
func Ask(ctx context.Context, address, method, path, token string, body []byte) (*http.Response, error) {
	transport := &http.Transport{DisableKeepAlives: true} // Proxy is nil: HTTP_PROXY is ignored
	host := address
	if strings.HasPrefix(address, ":") { // as in a configuration, where it is every address
		host = "localhost" + address
	}
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		host = "localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+host+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, ErrAddress)
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
