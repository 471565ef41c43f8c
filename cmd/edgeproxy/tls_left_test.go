package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// TestRequestsOfAClientThatHasLeftAreItsOwn: requests of HTTP/2 can outlast their
// connection, whose client is not known any more. They were taken for the
// load balancer's, which is trusted, and what they said of themselves was believed.
func TestRequestsOfAClientThatHasLeftAreItsOwn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Host+" for "+r.Header.Get("X-Forwarded-For")]++
	}))
	t.Cleanup(app.Close)
	certificate, key := certificateFiles(t)
	s := serveBinary(t, "-c", writeFile(t, "proxy.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true, proxy_protocol: true, trusted_proxies: [127.0.0.0/8]}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
origins: {app: {servers: [%q]}}
`, certificate, key, app.URL)))

	leave := func(n int) {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n")
		c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		b := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0, nil)...)
		for i := range uint32(60) {
			b = append(b, frame(1, 4|1, 2*i+1, fields(":method", "GET", ":scheme", "https", ":authority", "www.example.com",
				":path", fmt.Sprintf("/%d/%d", n, i), "x-forwarded-host", "evil.example", "x-forwarded-for", "6.6.6.6"))...)
		}
		_, _ = c.Write(b)
		_ = conn.Close()
	}
	for n := range 100 {
		leave(n)
	}
	s.metricsAtRest()
	mu.Lock()
	defer mu.Unlock()
	if len(asked) > 1 || asked["www.example.com for 192.0.2.7"] == 0 {
		t.Errorf("got requests of %v, want them to be www.example.com for 192.0.2.7", asked)
	}
}
