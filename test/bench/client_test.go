package main

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// answering returns the address of a server that gives every request this
// answer, and then closes the connection if it says so.
func answering(t *testing.T, answer string) string {
	t.Helper()
	return testkit.Accept(t, "127.0.0.1:0", func(c net.Conn) { serveAlways(c, answer) })
}

func serveAlways(conn net.Conn, answer string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		if _, err := conn.Write([]byte(answer)); err != nil || strings.Contains(answer, "close") {
			return
		}
	}
}

func TestOnlyWholeHitsCount(t *testing.T) {
	const size = 8
	f := func(name, answer, wantWhy string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			address := answering(t, answer)
			p := page{path: "/8/0"}
			c, err := dial(address, 2, [][]byte{p.request("h")}, wanted{size: size, mark: hitMark})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var n int64
			for n < 2 && err == nil { // however late the connection has its turn
				var more int64
				more, err = c.ask(20 * time.Millisecond)
				n += more
			}
			if wantWhy == "" {
				if err != nil || n < 2 {
					t.Errorf("ask: got %d answers and error %v, want two or more and none", n, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), wantWhy) {
				t.Errorf("ask: got error %v, want %q in it", err, wantWhy)
			}
		})
	}
	head := func(status, cacheStatus string) string {
		return "HTTP/1.1 " + status + "\r\nCache-Status: " + cacheStatus + "\r\n"
	}
	hit := head("200 OK", "edge; hit; ttl=5")
	f("a hit", hit+"\r\n12345678", "")
	f("a hit in pieces", hit+"X: "+strings.Repeat("x", 64<<10)+"\r\n\r\n12345678", "")
	f("a miss", head("200 OK", "edge; fwd=uri-miss")+"\r\n12345678", "does not say hit")
	f("an error", head("503 Service Unavailable", "edge; hit; ttl=5")+"\r\n12345678", "is not 200")
	f("a long body", hit+"\r\n123456789", "more bytes than its page")
	f("a short body", hit+"Connection: close\r\n\r\n1234567", "read an answer")
	f("no answer", "close", "read an answer")
	f("a head without end", hit+strings.Repeat("X: x\r\n", 64<<10), "no end of its head")
}

func TestWarmLooksAtTheBody(t *testing.T) {
	f := func(name, answer, wantWhy string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			err := warm(t.Context(), answering(t, answer), []page{{path: "/a", body: []byte("ab")}}, hitMark)
			var wrong *AnswerError
			switch {
			case wantWhy == "" && err != nil:
				t.Errorf("got %v, want none", err)
			case wantWhy != "" && (!errors.As(err, &wrong) || !strings.Contains(wrong.Why, wantWhy)):
				t.Errorf("got %v, want an AnswerError with %q", err, wantWhy)
			}
		})
	}
	f("right", "HTTP/1.1 200 OK\r\nCache-Status: e; hit; ttl=1\r\nContent-Length: 2\r\n\r\nab", "")
	f("another body", "HTTP/1.1 200 OK\r\nCache-Status: e; hit; ttl=1\r\nContent-Length: 2\r\n\r\nac", "another body")
	f("never a hit", "HTTP/1.1 200 OK\r\nCache-Status: e; fwd=uri-miss\r\nContent-Length: 2\r\n\r\nab", "no hit after 3")
}
