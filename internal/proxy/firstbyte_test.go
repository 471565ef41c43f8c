package proxy_test

import (
	"fmt"
	"io"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// TestFirstBytesGoOutAsTheyCome: the origin sends each piece only when the client
// has the one before, so a proxy that keeps any back would wait for ever.
func TestFirstBytesGoOutAsTheyCome(t *testing.T) {
	const pieces = 5
	f := func(name, framing, method, fields, version string, chunk func(string) string, last string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			next := make(chan struct{}, pieces+1) // the client has the piece before
			e, _ := startBefore(t, always, func(c *edgetest.Conn) {
				for c.Next() != nil {
					c.Say("HTTP/1.1 200 OK\r\n" + fields + framing + "\r\n\r\n")
					for i := range pieces {
						wait(next)
						c.Say(chunk(fmt.Sprintf("piece%d", i)))
					}
					wait(next)
					c.Say(last)
				}
			})
			s := dial(t, e.Address)
			res, err := s.head(method + " /a " + version + "\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n")
			if err != nil {
				t.Fatalf("the head did not come before the body: %v", err)
			}
			next <- struct{}{}
			for i := range pieces {
				got := make([]byte, len("piece0"))
				if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != fmt.Sprintf("piece%d", i) {
					t.Fatalf("piece %d: got %q, %v", i, got, err)
				}
				next <- struct{}{}
			}
			if rest, err := io.ReadAll(res.Body); len(rest) > 0 || err != nil {
				t.Errorf("after the last piece: got %q, %v, want the end", rest, err)
			}
		})
	}
	plain := func(s string) string { return s }
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	length := fmt.Sprintf("Content-Length: %d", pieces*len("piece0"))
	const chunked, end = "Transfer-Encoding: chunked", "0\r\n\r\n"
	const store, refuse = "Cache-Control: max-age=3600\r\n", "Cache-Control: no-store\r\n"

	f("chunked, stored", chunked, "GET", store, "HTTP/1.1", chunk, end)
	f("chunked, not storable", chunked, "GET", refuse, "HTTP/1.1", chunk, end)
	f("chunked, passed", chunked, "POST", refuse, "HTTP/1.1", chunk, end)
	f("chunked, to HTTP/1.0", chunked, "GET", store, "HTTP/1.0", chunk, end)
	f("stored", length, "GET", store, "HTTP/1.1", plain, "")
	f("not storable", length, "GET", refuse, "HTTP/1.1", plain, "")
	f("passed", length, "POST", refuse, "HTTP/1.1", plain, "")
}

// TestFollowerGetsWhatIsThereAtOnce: a client that joins in the middle of a body gets its
// first half before the second is sent.
func TestFollowerGetsWhatIsThereAtOnce(t *testing.T) {
	half, rest := make(chan struct{}), make(chan struct{})
	e, app := startBefore(t, always, func(c *edgetest.Conn) {
		for c.Next() != nil {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 10\r\n\r\nhello")
			close(half)
			wait(rest)
			c.Say("world")
		}
	})
	leader := dial(t, e.Address)
	res, err := leader.head(asGet("/a"))
	if err != nil {
		t.Fatal(err)
	}
	<-half
	first := make([]byte, 5)
	if _, err := io.ReadFull(res.Body, first); err != nil {
		t.Fatalf("leader, first half: %v", err)
	}
	follower := dial(t, e.Address)
	res2, err := follower.head(asGet("/a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res2.Body, first); err != nil || string(first) != "hello" {
		t.Fatalf("follower, first half: got %q, %v", first, err)
	}
	close(rest)
	for name, body := range map[string]io.Reader{"leader": res.Body, "follower": res2.Body} {
		if got, err := io.ReadAll(body); err != nil || string(got) != "world" {
			t.Errorf("%s, second half: got %q, %v", name, got, err)
		}
	}
	if app.Requests() != 1 {
		t.Errorf("got %d origin requests, want 1", app.Requests())
	}
}
