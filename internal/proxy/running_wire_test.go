package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// runs returns what is listed of the requests under way, one a line: phase, method, host, target, route and bytes, of a tunnel
// those from the client too.
func runs(e *edgetest.Edge, most int) (lines []string, total int) {
	rows, total := e.Proxy.Running(most)
	for _, r := range rows {
		line := fmt.Sprint(r.Phase, " ", r.Method, " ", r.Scheme, "://", r.Host, r.Target, " ", r.Route, " ", r.Sent)
		if r.Received > 0 {
			line += fmt.Sprint(" ", r.Received)
		}
		lines = append(lines, line)
	}
	return lines, total
}

// TestRequestsThatRunAreListed: each phase, by requests that stay in it until the test lets them go.
func TestRequestsThatRunAreListed(t *testing.T) {
	goOn := make(chan struct{})
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			switch {
			case r.Header.Get("Upgrade") != "":
				c.Say(switched101)
				echoes(c)
				return
			case r.RequestURI == "/streams":
				c.Say("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
				<-goOn
				c.Say("0\r\n\r\n")
			case r.RequestURI == "/slow":
				<-goOn
				c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
			default:
				c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 5\r\n\r\nhello")
			}
		}
	})
	ask(t, e, asGet("/quick"))
	ask(t, e, asGet("/quick"))
	if lines, total := runs(e, 10); total != 0 {
		t.Errorf("got %q, want nothing of requests that were answered", lines)
	}
	var want []string
	begin := func(request, line string) *socket {
		t.Helper()
		s := dial(t, e.Address)
		if _, err := io.WriteString(s, request); err != nil {
			t.Fatal(err)
		}
		want = append(want, line)
		eventually(t, line, func() bool {
			lines, total := runs(e, 10)
			return total == len(want) && strings.Join(lines, "\n") == strings.Join(want, "\n")
		})
		return s
	}
	first := begin(asGet("/slow"), "origin GET http://edge.test/slow default 0")
	second := begin(asGet("/slow"), "shared-fetch GET http://edge.test/slow default 0")
	begin("POST /up HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 10\r\n\r\nhalf", "request-body POST http://edge.test/up default 0")
	third := begin(asGet("/streams"), "sending GET http://edge.test/streams default 3")
	tunnel := begin(asks101, "tunnel GET http://edge.test/ws default 0")
	if res, err := tunnel.head(""); err != nil || res.StatusCode != 101 {
		t.Fatalf("got %v, %v, want a 101", res, err)
	}
	tunnel.exchange(t, "hello")
	want[4] = "tunnel GET http://edge.test/ws default 5 5"
	eventually(t, want[4], func() bool { lines, _ := runs(e, 10); return strings.Join(lines, "\n") == strings.Join(want, "\n") })
	if lines, total := runs(e, 2); total != 5 || strings.Join(lines, "\n") != strings.Join(want[:2], "\n") {
		t.Errorf("got %q of %d, want the first two of 5", lines, total)
	}
	close(goOn)
	for _, s := range []*socket{first, second, third} {
		if a := s.read(); a.status != 200 {
			t.Errorf("got %d %v, want 200", a.status, a.err)
		}
	}
	eventually(t, "two run", func() bool { _, total := runs(e, 0); return total == 2 })
	_ = tunnel.Close()
	eventually(t, "one runs", func() bool { _, total := runs(e, 0); return total == 1 })
}

// TestARequestThatWaitsForAConnectionIsInTheQueue: by a flight, and alone.
func TestARequestThatWaitsForAConnectionIsInTheQueue(t *testing.T) {
	goOn := make(chan struct{})
	e, _ := startBefore(t, `
limits: {origin_share: 1} # the clients have one address
origins: {app: {servers: ["http://{origin}"], max_connections: 1, queue: {requests: 10, wait: 1h}}}
`, func(c *edgetest.Conn) {
		for c.Next() != nil {
			<-goOn
			c.Say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		}
	})
	var all []*socket
	for i, request := range []string{asGet("/a"), asGet("/b"), "POST /c HTTP/1.1\r\nHost: edge.test\r\nContent-Length: 0\r\n\r\n", "HEAD /d HTTP/1.1\r\nHost: edge.test\r\n\r\n"} {
		s := dial(t, e.Address)
		if _, err := io.WriteString(s, request); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		eventually(t, request, func() bool {
			rows, total := e.Proxy.Running(10)
			return total == i+1 && (rows[i].Phase.String() == "queue") == (i > 0) && (i > 0 || rows[0].Phase.String() == "origin")
		})
	}
	close(goOn)
	for _, s := range all[:3] {
		if a := s.read(); a.status != 200 {
			t.Errorf("got %d %v, want 200", a.status, a.err)
		}
	}
	eventually(t, "none runs", func() bool { _, total := runs(e, 0); return total == 0 })
}
