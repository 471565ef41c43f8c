package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestClientThatResetsHoldsNoMoreThanItsShare: what will be stored is fetched to its end, also
// where its client has left, and a stream of HTTP/2 is left by one frame. Such fetches count for
// that client all the same, in connections and in the queue, as those of connections that are closed.
func TestClientThatResetsHoldsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	t.Run("HTTP/1.1", func(t *testing.T) { resetStored(t, false) })
	t.Run("HTTP/2", func(t *testing.T) { resetStored(t, true) })
}

func resetStored(t *testing.T, two bool) {
	t.Helper()
	over, came := make(chan struct{}), make(chan struct{}, 64)
	end := sync.OnceFunc(func() { close(over) })
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/late") {
			came <- struct{}{}
			<-over
		}
		w.Header().Set("Cache-Control", "max-age=3600")
	}))
	t.Cleanup(app.Close)
	t.Cleanup(end)
	certificate, key := certificateFiles(t)
	s := serveBinary(t, "-c", writeFile(t, "tls.yaml", fmt.Sprintf(`
listen: [{address: "127.0.0.1:0", tls: true}]
admin: {address: "127.0.0.1:0"}
tls: {certificates: [{certificate: %q, key: %q}]}
admission: {policy: always}
origins: {app: {servers: [%q], max_connections: 16}}
`, certificate, key, app.URL)))
	nasty := s.speaks(t, two)
	held, refused := 0, 0
	for i := range 40 {
		ctx, leave := context.WithCancel(t.Context())
		answered := make(chan int, 1)
		go func() { answered <- statusOf(ctx, nasty, fmt.Sprintf("https://www.example.com/late/%d", i)) }()
		select {
		case <-came:
			held++
			leave()
			<-answered
		case status := <-answered:
			if status != http.StatusTooManyRequests {
				t.Fatalf("request %d: got %d, want 429 or nothing yet", i, status)
			}
			refused++
		}
		leave()
	}
	if held != 13 || refused != 27 { // with 13 of 16 less than a quarter is free
		t.Errorf("got %d fetches and %d refusals, want 13 and 27", held, refused)
	}
	other := &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "www.example.com"}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 7)}}).DialContext(ctx, network, s.address)
		},
	}}
	if status := statusOf(t.Context(), other, "https://www.example.com/quick"); status != 200 {
		t.Errorf("another client got %d meanwhile, want 200", status)
	}
	end()
	if n := metric(t, s.metricsAtRest(), `edgeproxy_origin_connections{origin="app",state="active"}`); n != 0 {
		t.Errorf("%d connections to the origin are in use, want none", n)
	}
	eventually(t, "what was fetched is stored", func() bool {
		_, text := get(t, "http://"+s.admin+"/metrics")
		return metric(t, text, `edgeproxy_fills_total{outcome="stored",route="default"}`) == 14
	})
}

// statusOf asks for url, and returns the status; 0 is no answer.
func statusOf(ctx context.Context, c *http.Client, url string) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	res, err := c.Do(r)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
