package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

const earlyHints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nX-Early: 1\r\nConnection: X-Hop\r\nX-Hop: 1\r\nCache-Tag: t\r\n\r\n"

// interim reads one interim response of earlyHints, as it must arrive.
func (s *socket) interim(t *testing.T) {
	t.Helper()
	res, err := http.ReadResponse(s.r, nil)
	if err != nil {
		t.Fatalf("got no interim response: %v", err)
	}
	h := res.Header
	if res.StatusCode != 103 || h.Get("Link") != "</a.css>" || h.Get("X-Early") != "1" || h.Get("Via") != "1.1 "+edgetest.Node {
		t.Errorf("got %d %v, want 103 with the origin's fields and our Via", res.StatusCode, h)
	}
	if len(h) != 3 {
		t.Errorf("got fields %v, want the end-to-end ones", h)
	}
}

// wantFinal reads the final response and looks for what is the interim one's.
func (s *socket) wantFinal(t *testing.T, status int, cache, body string) {
	t.Helper()
	a := s.read()
	a.want(t, status, cache, body)
	if early := a.header.Values("X-Early"); len(early) > 0 {
		t.Errorf("got X-Early %q in the answer, want none", early)
	}
}

// TestInterimResponsesGoOutAtOnce: the origin goes on only when the client has the
// interim response, on every way that a request takes to it.
func TestInterimResponsesGoOutAtOnce(t *testing.T) {
	const stored, refused = "Cache-Control: max-age=600\r\n", "Cache-Control: no-store\r\n"
	f := func(name, request, policy, cache, body string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			told := make(chan struct{}, 2)
			e, _ := startBefore(t, always, func(c *edgetest.Conn) {
				for r := c.Next(); r != nil; r = c.Next() {
					if strings.HasPrefix(r.URL.Path, "/plain") {
						c.Say("HTTP/1.1 200 OK\r\n" + policy + "Content-Length: 0\r\n\r\n")
						continue
					}
					for range 2 {
						c.Say(earlyHints)
						wait(told)
					}
					head := "HTTP/1.1 200 OK\r\n" + policy + "Content-Length: 5\r\n\r\n"
					if r.Method == http.MethodHead {
						c.Say(head)
						continue
					}
					c.Say(head + "hello")
				}
			})
			s := dial(t, e.Address)
			// The connection has carried an answer before, and the key may be marked.
			if a := s.ask(asGet("/plain")); a.err != nil {
				t.Fatal(a.err)
			}
			_, _ = io.WriteString(s, request)
			for range 2 {
				s.interim(t)
				told <- struct{}{}
			}
			if strings.HasPrefix(request, http.MethodHead) {
				if res, err := http.ReadResponse(s.r, &http.Request{Method: http.MethodHead}); err != nil || res.StatusCode != 200 {
					t.Errorf("got %v and error %v, want 200", res, err)
				}
				return
			}
			s.wantFinal(t, 200, cache, body)
		})
	}
	f("a flight", asGet("/a"), stored, "fwd=uri-miss; stored", "hello")
	f("a flight that is not shared", asGet("/a"), refused, "fwd=uri-miss; detail=no-store", "hello")
	f("alone, stored", "GET /a HTTP/1.1\r\nHost: edge.test\r\nAuthorization: x\r\n\r\n", stored+"Cache-Control: public\r\n", "fwd=uri-miss; stored", "hello")
	f("a HEAD", "HEAD /a HTTP/1.1\r\nHost: edge.test\r\n\r\n", stored, "", "")
	f("passed", "POST /a HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 2\r\n\r\nhi", stored, "fwd=method; detail=method", "hello")
}

// TestStoredResponseReplaysNoInterimResponse, neither to who asks later nor to a
// follower.
func TestStoredResponseReplaysNoInterimResponse(t *testing.T) {
	joined := make(chan struct{})
	e, app := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say(earlyHints)
			wait(joined)
			c.Say(earlyHints + "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	leader, follower := dial(t, e.Address), dial(t, e.Address)
	_, _ = io.WriteString(leader, asGet("/a"))
	leader.interim(t)
	_, _ = io.WriteString(follower, asGet("/a"))
	eventually(t, "two requests in flight", func() bool { return e.Proxy.InFlight() == 2 })
	close(joined)
	leader.interim(t)
	leader.wantFinal(t, 200, "fwd=uri-miss; stored", "hello")
	if a := follower.read(); a.status != 200 || a.body != "hello" || a.header.Get("X-Early") != "" {
		t.Errorf("follower: got %+v, want the answer alone", a)
	}
	a := leader.ask(asGet("/a"))
	if a.status != 200 || !strings.HasPrefix(a.cache, edgetest.Node+"; hit") || a.header.Get("X-Early") != "" || a.header.Get("Link") != "" {
		t.Errorf("later: got %+v, want a hit without the interim response's fields", a)
	}
	if n := app.Requests(); n != 1 {
		t.Errorf("got %d origin requests, want 1", n)
	}
}

// TestInterimResponsesOfAStampedeGoToOneClient, who leads, and disturb nobody.
func TestInterimResponsesOfAStampedeGoToOneClient(t *testing.T) {
	n := stampeding() / 4
	ready := make(chan struct{})
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			<-ready
			c.Say(strings.Repeat(earlyHints, 5) + "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	go func() {
		defer close(ready)
		comesTrue(func() bool { return e.Proxy.InFlight() == int64(n) })
	}()
	var early atomic.Int64
	clients := make(chan error, n)
	for range n {
		s := dial(t, e.Address)
		go func() {
			_, _ = io.WriteString(s, asGet("/a"))
			a := s.read()
			for a.status == 103 {
				early.Add(1)
				a = s.read()
			}
			if a.status != 200 || a.body != "hello" {
				a.err = fmt.Errorf("got %d %q, error %w", a.status, a.body, a.err)
			}
			clients <- a.err
		}()
	}
	for range n {
		if err := <-clients; err != nil {
			t.Error(err)
		}
	}
	if got := early.Load(); got != 5 {
		t.Errorf("got %d interim responses in all, want the 5 for the leader", got)
	}
}

// TestInterimResponsesAndPipelining: the answer to a request is not overtaken by
// what comes before the next, and HTTP/1.0 gets none.
func TestInterimResponsesAndPipelining(t *testing.T) {
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			if r.URL.Path != "/stored" {
				c.Say(earlyHints)
			}
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	s := dial(t, e.Address)
	if a := s.ask(asGet("/stored")); a.err != nil {
		t.Fatal(a.err)
	}
	_, _ = io.WriteString(s, asGet("/stored")+asGet("/a")+asGet("/stored")+asGet("/b"))
	for i, early := range []bool{false, true, false, true} {
		if early {
			s.interim(t)
		}
		if a := s.read(); a.status != 200 || a.body != "hello" || a.err != nil {
			t.Fatalf("answer %d: got %+v", i, a)
		}
	}
	old := dial(t, e.Address)
	if a := old.ask("GET /c HTTP/1.0\r\nHost: edge.test\r\n\r\n"); a.status != 200 || a.body != "hello" {
		t.Errorf("HTTP/1.0: got %+v, want the answer alone", a)
	}
}

// TestClientThatLeavesBeforeAnInterimResponse: the fetch goes on, and its response
// is stored.
func TestClientThatLeavesBeforeAnInterimResponse(t *testing.T) {
	asked, left := make(chan struct{}, 1), make(chan struct{})
	e, app := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			asked <- struct{}{}
			wait(left)
			c.Say(strings.Repeat(earlyHints, 10) + "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	s := dial(t, e.Address)
	_, _ = io.WriteString(s, asGet("/a"))
	wait(asked)
	_ = s.Close()
	close(left)
	eventually(t, "the response is stored", func() bool { return e.Store.Stats().Writes == 1 })
	if a := ask(t, e, asGet("/a")); a.body != "hello" || !strings.HasPrefix(a.cache, edgetest.Node+"; hit") {
		t.Errorf("got %+v, want a hit", a)
	}
	if n := app.Requests(); n != 1 {
		t.Errorf("got %d origin requests, want 1", n)
	}
}

// TestInterimResponsesOfAValidation: the client hears of them, though the answer
// comes from the store.
func TestInterimResponsesOfAValidation(t *testing.T) {
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			c.Say(earlyHints)
			if r.Header.Get("If-None-Match") != "" {
				c.Say("HTTP/1.1 304 Not Modified\r\nCache-Control: no-cache\r\nEtag: \"a\"\r\n\r\n")
				continue
			}
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nEtag: \"a\"\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	s := dial(t, e.Address)
	for i := range 3 {
		_, _ = io.WriteString(s, asGet("/a"))
		s.interim(t)
		if a := s.read(); a.status != 200 || a.body != "hello" || a.header.Get("X-Early") != "" {
			t.Errorf("answer %d: got %+v, want the stored one", i, a)
		}
	}
}
