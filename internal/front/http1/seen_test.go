package http1

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/http/message"
)

// said is what the log would have of a request that is refused.
func said(s *message.Seen) string {
	if s == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s|%s|%s|%s", s.Method, s.Target, s.Protocol, s.Host)
}

// refusedOf sends pieces and returns what the engine was told of the request that it has to refuse, and how much of the
// wait for its head the engine knows of.
func refusedOf(t *testing.T, pieces ...string) (status int, seen string, waited time.Duration) {
	t.Helper()
	seen = "not refused"
	served(t, func(r *message.Request, a *message.Answer) {
		a.Status, a.Length = http.StatusOK, 0
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		if r.Fault == nil {
			return
		}
		a.Status, a.Last = r.Fault.Status, true
		status, seen = r.Fault.Status, said(r.Seen)
		if s := r.Seen; s != nil && !s.Began.IsZero() {
			waited = r.Received.Sub(s.Began)
		}
	}, func(_ *testing.T, c net.Conn, r *bufio.Reader) {
		go func() {
			for _, p := range pieces {
				_, _ = io.WriteString(c, p)
			}
		}()
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		_, _ = io.Copy(io.Discard, r)
	})
	return status, seen, waited
}

// The log had the target / by HTTP/1.0, and no method and no host.
func TestRefusedHeadIsLoggedAsAnother(t *testing.T) {
	f := func(head string, status int, want string) {
		t.Helper()
		if got, seen, _ := refusedOf(t, head); got != status || seen != want {
			t.Errorf("%.60q: got %d and %.80q, want %d and %.80q", head, got, seen, status, want)
		}
	}
	long := strings.Repeat("x", 20<<10)
	f("GET /a?b=c HTTP/1.1\r\nHost: h\r\nX: "+long+"\r\n\r\n", 431, "GET|/a?b=c|HTTP/1.1|h")
	f("GET /a HTTP/1.1\r\nX: "+long+"\r\nHost: h\r\n\r\n", 431, "GET|/a|HTTP/1.1|")
	f("POST /a HTTP/1.0\r\nX: "+long, 431, "POST|/a|HTTP/1.0|")
	f("GET /"+long+" HTTP/1.1\r\nHost: h\r\n\r\n", 431, "GET|/"+long[:mostSeen-1]+"||")
	f("GET /a HTTP/1.1\r\nX: y\r\n\r\n", 400, "GET|/a|HTTP/1.1|")
	f("HEAD /a HTTP/1.1\r\nHost: "+long[:1000]+"\r\nX : y\r\n\r\n", 400, "HEAD|/a|HTTP/1.1|"+long[:mostNameSeen])
	f("POST /a HTTP/1.1\r\nhost:\th \r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400, "POST|/a|HTTP/1.1|h")
	f("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400, "POST|/a|HTTP/1.1|h")
	f("\r\nGET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400, "GET|/a b|HTTP/1.1|h")
	f("GET /a HTTP/2.0\r\nHost: h\r\n\r\n", 400, "GET|/a|HTTP/2.0|h")
	f("GET /a HTTP/x\r\nHost: h\r\n\r\n", 400, "GET|/a HTTP/x||h")
	f("GET /a\r\n\r\n", 400, "GET|/a||")
	f("\x16\x03\x01\x02 \x01\r\n\r\n", 400, "|\x16\x03\x01\x02 \x01||")
	f("garbage\r\n\r\n", 400, "|garbage||")
}

// A head that did not come in time had a duration of zero.
func TestSlowHeadIsLoggedAsAnother(t *testing.T) {
	f := func(want string, pieces ...string) {
		t.Helper()
		status, seen, waited := refusedOf(t, pieces...)
		if status != 408 || seen != want || waited < headTime || waited > headTime+time.Second {
			t.Errorf("%q: got %d, %q and a wait of %v, want 408, %q and %v", pieces, status, seen, waited, want, headTime)
		}
	}
	f("GET|/a|HTTP/1.1|h", "GET /a HTTP/1.1\r\nHo", "st: h\r\nX: y")
	f("GET|/a|HTTP/1.1|", "GET /a HTTP/1.1\r\nHost: h")
	f("GET|/a||", "GET /a HT")
	f("GET|||", "GET /a")
	f("|||", "GE")
	f("POST|/a|HTTP/1.1|h", "POST /a HTTP/1.1\r\nHo", "st: h\r\nX: y")
	f("POST|/b|HTTP/1.1|h", string(byFasthttp.get("/a"))+"POST /b HTTP/1.1\r\nHo", "st: h\r\nX: y")
	f("POST|/b|HTTP/1.1|h", byLoop.get("/a"), "POST /b HTTP/1.1\r\nHo", "st: h\r\nX: y")
}

// Requests before it, however they are cut, and whatever they have, are not taken for it.
func TestRefusedRequestIsLoggedAsTheOneBefore(t *testing.T) {
	before := []string{
		byLoop.get("/loop"), byFasthttp.get("/fast"), "\r\n" + byFasthttp.get("/blank"),
		"POST /post HTTP/1.1\r\nHost: h\r\nContent-Length: 23\r\n\r\nGET /body HTTP/1.1\r\n\r\n\r\n",
		"POST /large HTTP/1.1\r\nHost: h\r\nContent-Length: 40000\r\n\r\n" + strings.Repeat("GET /y\r\n", 5000),
		"GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"POST /post HTTP/1.1\r\nHost: h\r\n" + string(byFasthttp) + "Content-Length: 23\r\n\r\nGET /body HTTP/1.1\r\n\r\n\r\n",
		"POST /large HTTP/1.1\r\nHost: h\r\n" + string(byFasthttp) + "Content-Length: 40000\r\n\r\n" + strings.Repeat("GET /y\r\n", 5000),
		"POST /expect HTTP/1.1\r\nHost: h\r\n" + string(byFasthttp) + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
		"POST /expect HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var all strings.Builder
		if random.IntN(2) == 0 { // the loop reads it: one read by fasthttp would be the last
			all.WriteString(chunkedHead + "5\r\nhello\r\n0\r\nX: GET /y\r\n\r\n")
		}
		for range random.IntN(4) {
			all.WriteString(before[random.IntN(len(before))])
		}
		all.WriteString("GET /refused HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n")
		var pieces []string
		for rest := all.String(); rest != ""; {
			n := min(len(rest), 1+random.IntN([]int{3, 100, 20000, 100000}[random.IntN(4)]))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		_, seen, _ := refusedOf(t, pieces...)
		if want := "GET|/refused|HTTP/1.1|a"; seen != want {
			t.Errorf("got %q of %.2000q, want %q", seen, pieces, want)
		}
	}
}
