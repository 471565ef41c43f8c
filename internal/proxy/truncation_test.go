package proxy_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// TestOriginThatDiesIsNeverTakenForWhole cuts a response at every byte, by the end
// of the connection and by a reset: the client must see that, the store must not get
// it, and the next request must fetch anew.
func TestOriginThatDiesIsNeverTakenForWhole(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n"
	f := func(name, framing, body string) {
		t.Helper()
		whole := head + framing + "\r\n\r\n" + body
		for _, reset := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s reset=%v", name, reset), func(t *testing.T) {
				e, _ := startBefore(t, always, dieOnce(whole, reset))
				for cut := 1; cut < len(whole); cut++ {
					checkCut(t, e, cut, len(whole)-len(body))
				}
				if got, want := admittedWrites(e.Store.Stats()), int64(len(whole)-1); got != want {
					t.Errorf("got %d writes, want %d: one for each whole response", got, want)
				}
			})
		}
	}

	f("chunked", "Transfer-Encoding: chunked", "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX: y\r\n\r\n")
	f("length", "Content-Length: 11", "hello world")
}

// checkCut asks for the response that is cut after cut bytes; bodyAt is where its
// body begins.
func checkCut(t *testing.T, e *edgetest.Edge, cut, bodyAt int) {
	t.Helper()
	request := asGet(fmt.Sprintf("/%d", cut))
	switch a := ask(t, e, request); {
	case cut < bodyAt:
		if a.err != nil || a.status != 502 {
			t.Errorf("head cut after %d bytes: got %d %v, want 502", cut, a.status, a.err)
		}
	case a.status == 502: // a reset may overtake the head
	case a.err == nil:
		t.Errorf("cut after %d bytes: got a whole body %q", cut, a.body)
	case !strings.HasPrefix("hello world", a.body):
		t.Errorf("cut after %d bytes: got body %q, which the origin never sent", cut, a.body)
	}
	ask(t, e, request).want(t, 200, "fwd=uri-miss; stored", "hello world")
	a := ask(t, e, request)
	if !strings.HasPrefix(a.cache, nodeName+"; hit; ttl=") || a.body != "hello world" {
		t.Errorf("after the whole response: got %q %q, want a hit", a.cache, a.body)
	}
}

// dieOnce cuts the first response for each target /N after N bytes, and answers
// whole from then on.
func dieOnce(whole string, reset bool) func(*edgetest.Conn) {
	var mu sync.Mutex
	asked := map[string]bool{}
	return func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			mu.Lock()
			again := asked[r.RequestURI]
			asked[r.RequestURI] = true
			mu.Unlock()
			if again {
				c.Say(whole)
				continue
			}
			var cut int
			_, _ = fmt.Sscanf(r.RequestURI, "/%d", &cut)
			c.Say(whole[:cut])
			if reset {
				_ = c.Conn.(*net.TCPConn).SetLinger(0)
			}
			return
		}
	}
}
