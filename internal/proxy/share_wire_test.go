package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// behindProxies has the clients of an edge named by X-Forwarded-For.
const behindProxies = "listen: [{address: \"127.0.0.1:0\", trusted_proxies: [127.0.0.1]}]\n"

// asked is a GET of the client with this address.
func asked(target, client string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: edge.test\r\nX-Forwarded-For: " + client + "\r\n\r\n"
}

// TestALeaderBeyondItsShareFailsNoFollower: the fetch of a leader whose client is over
// its share is refused, and its followers are not, in slices or not.
func TestALeaderBeyondItsShareFailsNoFollower(t *testing.T) {
	for _, slice := range []string{"0B", "16KiB"} {
		t.Run(slice, func(t *testing.T) {
			more := make(chan struct{})
			e, _ := startBefore(t, always+behindProxies+`
limits: {origin_share: 0.25}
origins: {app: {servers: ["http://{origin}"], max_connections: 8, queue: {requests: 100, wait: 1h}}}
cache: {slice: `+slice+"}", func(c *edgetest.Conn) {
				for r := c.Next(); r != nil; r = c.Next() {
					if strings.HasPrefix(r.RequestURI, "/slow") {
						<-more
					}
					c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 1\r\n\r\nx")
				}
			})
			for i := range 7 {
				s := dial(t, e.Address)
				if _, err := io.WriteString(s, asked(fmt.Sprint("/slow", i), "203.0.113.1")); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "seven hold a connection", func() bool {
				return e.Metric(t, "edgeproxy_origin_connections", "origin=app", "state=active") == 7
			})
			var all sync.WaitGroup
			for i := range 400 {
				who := 1 + i%2
				all.Go(func() {
					a := ask(t, e, asked(fmt.Sprint("/a", i/4), fmt.Sprint("203.0.113.", who)))
					if who == 2 && a.status != 200 {
						t.Errorf("got %d %q %v, want what another client holds to be no affair of this one", a.status, a.cache, a.err)
					}
				})
				if i%8 == 7 {
					all.Wait()
				}
			}
			close(more)
		})
	}
}
