package origin

import (
	"fmt"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// ignoresBodies answers each head with its target, and takes the body of a request for the next one. It answers that one
// only when something else has come behind it: so the answer is not there yet when the connection is looked at.
func ignoresBodies(_ int, p *peer) {
	for first := true; ; first = false {
		head := p.request()
		if head == "" {
			return
		}
		if !first {
			if _, err := p.br.Peek(1); err != nil {
				return
			}
		}
		body := strings.Fields(head)[1]
		length := len(body)
		if strings.HasPrefix(head, "HEAD ") {
			body = ""
		}
		p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length, body))
	}
}

// startReusing is start of an Origin that uses connections again after a POST, or not.
func startReusing(t *testing.T, reuse bool, s script) *Origin {
	t.Helper()
	return openAs(t, Options{Address: loopback(t, s), Settings: Settings{ReuseAfterPost: reuse, ConnectTimeout: testkit.Patience}})
}

const ignoredBody = "GET /ignored HTTP/1.1\r\nHost: h\r\n\r\n"

// The answer of an origin that takes the body of one request for another request was the answer to the client that came next on
// the connection.
func TestABodyThatTheOriginIgnoresAnswersNobodyElse(t *testing.T) {
	f := func(reuse bool, method string, whole bool) {
		t.Helper()
		origin := startReusing(t, reuse, ignoresBodies)
		r := &Request{Method: method, Target: "/first", Host: "h", Body: strings.NewReader(ignoredBody), ContentLength: int64(len(ignoredBody))}
		if whole {
			r.Whole = []byte(ignoredBody)
		}
		want := "/first"
		if method == "HEAD" {
			want = ""
		}
		wantBody(t, origin, r, want)
		if n := idleCount(origin); n != 0 {
			t.Errorf("%s with a body: got %d idle connections, want none", method, n)
		}
		wantBody(t, origin, get("/next"), "/next")
	}
	for _, whole := range []bool{true, false} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "REPORT"} {
			f(true, method, whole)
		}
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			f(false, method, whole)
		}
	}
}

// A connection ends after a body only where the origin may leave that unread, and then the origin is told so: it does not
// look at what comes behind.
func TestWhichBodiesEndTheirConnection(t *testing.T) {
	const length, chunked = 3, -1
	f := func(reuse bool, method, body string, size int64, want bool) {
		t.Helper()
		heads := make(chan string, 1)
		origin := startReusing(t, reuse, func(_ int, p *peer) {
			for head := p.request(); head != ""; head = p.request() {
				heads <- head
				left := len(body)
				if size == chunked {
					left = len("3\r\nabc\r\n0\r\n\r\n")
				}
				for range left {
					_, _ = p.br.ReadByte()
				}
				p.say(okWire)
			}
		})
		r := &Request{Method: method, Target: "/", Host: "h"}
		if size != 0 || !reuse {
			r.Body, r.ContentLength = strings.NewReader(body), size
		}
		if method == "TRAILERS" {
			r.Method, r.TakesTrailers = "GET", true
		}
		wantBody(t, origin, r, "ok")
		closed := idleCount(origin) == 0
		told := strings.Contains(<-heads, "\r\nConnection: close")
		if closed != want || told != want {
			t.Errorf("%s with %d bytes, length %d: got it closed %v and told %v, want both %v", method, len(body), size, closed, told, want)
		}
	}
	for _, method := range []string{"GET", "OPTIONS", "DELETE", "REPORT", "TRAILERS"} {
		f(true, method, "abc", length, true)
		f(true, method, "abc", chunked, true)
	}
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		f(true, method, "abc", length, false)
		f(true, method, "abc", chunked, false)
		f(false, method, "abc", length, true)
		f(false, method, "abc", chunked, true)
		f(false, method, "", 0, false)
	}
	f(true, "GET", "", 0, false) // without a body
	f(true, "DELETE", "", 0, false)
}

// By HTTP/2 the frames say whose a body is, so a connection goes on.
func TestABodyByHTTP2EndsNoConnection(t *testing.T) {
	o := openAs(t, Options{Address: loopback(t, frames(says(func(f *framer, id uint32) { f.ok(id) }))), Settings: Settings{HTTP2: true, IdleTimeout: testkit.Patience}})
	for _, method := range []string{"GET", "DELETE", "POST"} {
		r := &Request{Method: method, Target: "/", Host: "h", Body: strings.NewReader("abc"), ContentLength: 3, Whole: []byte("abc")}
		wantBody(t, o, r, "ok")
	}
	if n := h2Count(o); n != 1 {
		t.Errorf("got %d connections, want the only one", n)
	}
}
