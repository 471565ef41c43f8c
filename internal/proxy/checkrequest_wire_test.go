package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// recordingOrigin is an origin that notes what reaches it and answers everything.
type recordingOrigin struct {
	mu   sync.Mutex
	seen []string
	head http.Header // the fields of the last request
}

func (w *recordingOrigin) script(c *edgetest.Conn) {
	for r := c.Next(); r != nil; r = c.Next() {
		w.mu.Lock()
		w.seen = append(w.seen, r.Method+" "+r.Host+" "+r.RequestURI+" "+r.Content)
		w.head = r.Header
		w.mu.Unlock()
		c.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// take returns what came since the last call, and the fields of the last request.
func (w *recordingOrigin) take() ([]string, http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, head := w.seen, w.head
	w.seen, w.head = nil, nil
	return seen, head
}

// smuggled stands behind every request of the tables, on the same connection. It asks
// to close, so that the reading ends.
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

// statuses sends raw on a connection of its own and returns the status of every
// answer until the edge closes.
func statuses(t *testing.T, e *edgetest.Edge, raw string) string {
	t.Helper()
	s := dial(t, e.Address)
	defer s.Close()
	if _, err := io.WriteString(s, raw); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(strings.TrimLeft(raw, "\r\n"), " ")
	var got []string
	for {
		res, err := http.ReadResponse(s.r, &http.Request{Method: method})
		if err != nil {
			return strings.Join(got, " ")
		}
		got = append(got, fmt.Sprint(res.StatusCode))
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatalf("%q: body of answer %d: %v", raw, len(got), err)
		}
		if res.StatusCode != http.StatusContinue {
			method = http.MethodGet
		}
		if res.StatusCode >= 400 && !res.Close {
			t.Errorf("%q: a %d without Connection: close", raw, res.StatusCode)
		}
	}
}

// TestWhatIsRefusedEndsTheConnection: a request that two parsers could read in two
// ways is answered with an error, and nothing behind it on its connection is read as
// a request. What the edge lets through is one request at the origin.
func TestWhatIsRefusedEndsTheConnection(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	refused := func(status int, raw string) {
		t.Helper()
		if got := statuses(t, e, raw+smuggled); got != fmt.Sprint(status) {
			t.Errorf("%q: got %s, want %d and the end", raw, got, status)
		}
		if seen, _ := w.take(); len(seen) > 0 {
			t.Errorf("%q: the origin got %q", raw, seen)
		}
	}
	const a, h, post = "GET /a HTTP/1.1\r\n", "Host: h\r\n", "POST /a HTTP/1.1\r\nHost: h\r\n"

	for name, raws := range map[string][]string{
		"framing": {
			post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
			post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
			post + "Content-Length: 3, 3\r\n\r\nabc", post + "Content-Length: +3\r\n\r\nabc", post + "Content-Length: -1\r\n\r\n",
			post + "Content-Length:\r\n\r\n", post + "Content-Length: 99999999999999999999\r\n\r\n",
			post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
			post + "Transfer-Encoding: identity\r\n\r\n", post + "Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
			post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", post + "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
			post + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", post + "Transfer-Encoding:\r\n\r\n0\r\n\r\n",
			"POST /a HTTP/1.0\r\n" + h + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		},
		"lines": {
			a + h + " X: folded\r\n\r\n", a + " X: y\r\n" + h + "\r\n", a + h + "X: y\nY: z\r\n\r\n", a + h + "X: y\n\n", a + h + "\n", a + "Host: h\n\r\n",
			a + h + "Content Length: 5\r\n\r\n", a + h + "X : y\r\n\r\n", a + h + ": y\r\n\r\n", a + h + "no colon\r\n\r\n",
			a + h + "X: a\rb\r\n\r\n", a + h + "X: a\x00b\r\n\r\n", a + h + "X: a\x0bb\r\n\r\n", a + h + "X\x00: b\r\n\r\n", a + h + "X(: b\r\n\r\n",
		},
		"host": {
			a + "\r\n", a + "Host:\r\n\r\n", a + h + h + "\r\n", a + "Host: a,b\r\n\r\n", a + "Host: user@h\r\n\r\n", a + "Host: user:pw@evil\r\n\r\n",
			a + "Host: h:0\r\n\r\n", a + "Host: h:65536\r\n\r\n", a + "Host: h:x\r\n\r\n", a + "Host: h/x\r\n\r\n", a + "Host: h x\r\n\r\n", a + "Host: [::1\r\n\r\n",
			"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
			"GET http://h/a HTTP/1.1\r\nHost: user@x\r\n\r\n", "GET http://user@h/a HTTP/1.1\r\n" + h + "\r\n", "GET http://h:x/a HTTP/1.1\r\n" + h + "\r\n",
		},
		"line": {
			"GET /a#b HTTP/1.1\r\n" + h + "\r\n", "GET /a\\b HTTP/1.1\r\n" + h + "\r\n", "GET /a b HTTP/1.1\r\n" + h + "\r\n", "GET /a\x00 HTTP/1.1\r\n" + h + "\r\n",
			"GET /a\x7f HTTP/1.1\r\n" + h + "\r\n", "GET a HTTP/1.1\r\n" + h + "\r\n", "GET * HTTP/1.1\r\n" + h + "\r\n", "GET http://h?q HTTP/1.1\r\n" + h + "\r\n",
			"GET https://h/a HTTP/1.1\r\n" + h + "\r\n", "GET ftp://h/a HTTP/1.1\r\n" + h + "\r\n", "GET  /a HTTP/1.1\r\n" + h + "\r\n", " GET /a HTTP/1.1\r\n" + h + "\r\n",
			"GET /a  HTTP/1.1\r\n" + h + "\r\n", "GET\t/a HTTP/1.1\r\n" + h + "\r\n", "GET /a HTTP/1.1 \r\n" + h + "\r\n", "GET /a HTTP/1.1\r\r\n" + h + "\r\n", "GET /a\r\n" + h + "\r\n",
			"get /a HTTP/1.1\r\n" + h + "\r\n", "Get /a HTTP/1.1\r\n" + h + "\r\n", "GET /a HTTP/1.2\r\n" + h + "\r\n", "GET /a HTTP/2.0\r\n" + h + "\r\n", "GET /a HTTP/0.9\r\n" + h + "\r\n",
			"GET /a http/1.1\r\n" + h + "\r\n", "GET /a HTTP/1.10\r\n" + h + "\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		},
	} {
		t.Log(name)
		for _, raw := range raws {
			refused(400, raw)
		}
	}
	refused(405, "TRACE /a HTTP/1.1\r\n"+h+"\r\n")
	refused(405, "TRACE /a HTTP/1.1\r\n"+h+"Content-Length: 3\r\n\r\nabc")
	refused(405, "CONNECT h:80 HTTP/1.1\r\n"+h+"\r\n")
	refused(405, "PRI /a HTTP/1.1\r\n"+h+"\r\n")
	refused(414, "GET /"+strings.Repeat("a", 8<<10)+" HTTP/1.1\r\n"+h+"\r\n")
	refused(414, "GET /"+strings.Repeat("\xc3", 3<<10)+" HTTP/1.1\r\n"+h+"\r\n") // three bytes each in the normal form
	refused(431, a+h+strings.Repeat("X: y\r\n", 100)+"\r\n")
	refused(417, post+"Expect: 200-ok\r\nContent-Length: 3\r\n\r\nabc")
	refused(413, post+"Content-Length: 1073741825\r\n\r\n")
}

// TestNoContinueForWhatIsRefused: the gate stands before the 100 that asks for the
// body, and what was sent without waiting is not read as a request.
func TestNoContinueForWhatIsRefused(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	f := func(want, raw string, seen ...string) {
		t.Helper()
		if got := statuses(t, e, raw); got != want {
			t.Errorf("%q: got %s, want %s", raw, got, want)
		}
		if got, _ := w.take(); fmt.Sprint(got) != fmt.Sprint(seen) {
			t.Errorf("%q: the origin got %q, want %q", raw, got, seen)
		}
	}
	const post, expect = "POST /a HTTP/1.1\r\n", "Expect: 100-continue\r\n"
	for _, fields := range []string{
		"Host: h\r\n" + expect + "Content-Length: 3\r\nX : y\r\n\r\n", "Host: h\r\n" + expect + "X: y\nContent-Length: 3\r\n\r\n",
		"Host: h\r\n" + expect + "Content-Length: 3\r\n X: y\r\n\r\n", "Host: h\r\n" + expect + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
		"Host: h\r\n" + expect + "Transfer-Encoding: identity\r\n\r\n", "Host: u@h\r\n" + expect + "Content-Length: 3\r\n\r\n",
	} {
		f("400", post+fields)
		f("400", post+fields+smuggled)
		f("400", post+fields+"abc"+smuggled)
	}
	f("400", "post /a HTTP/1.1\r\nHost: h\r\n"+expect+"Content-Length: 3\r\n\r\nabc"+smuggled)
	f("405", "TRACE /a HTTP/1.1\r\nHost: h\r\n"+expect+"Content-Length: 3\r\n\r\nabc"+smuggled)
	f("413", post+"Host: h\r\n"+expect+"Content-Length: 1073741825\r\n\r\n"+smuggled)
	f("417", post+"Host: h\r\nExpect: y 100-continue\r\nContent-Length: 3\r\n\r\nabc"+smuggled)
	f("417", post+"Host: h\r\nExpect: 100-continue, x\r\nContent-Length: 3\r\n\r\nabc"+smuggled)
	f("417", post+"Host: h\r\n"+expect+"Expect: x\r\nContent-Length: 3\r\n\r\nabc"+smuggled) // the first line alone would do
	// A 100 is for HTTP/1.1 (RFC 9110 section 10.1.1).
	f("200 200", "POST /a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n"+expect+"Content-Length: 3\r\n\r\nabc"+smuggled, "POST h /a abc", "GET h /smuggled ")
	f("100 200 200", post+"Host: h\r\n"+expect+"Content-Length: 3\r\n\r\nabc"+smuggled, "POST h /a abc", "GET h /smuggled ")
	f("100 200 200", post+"Host: h\r\n"+expect+"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"+smuggled, "POST h /a abc", "GET h /smuggled ")
	const odd = "Connection: keep-alive, x\r\n" // fasthttp reads it, and whatever follows
	f("100 200 200", post+"Host: h\r\n"+odd+expect+"Content-Length: 3\r\n\r\nabc"+smuggled, "POST h /a abc", "GET h /smuggled ")
	f("100 200", post+"Host: h\r\n"+odd+expect+"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"+smuggled, "POST h /a abc")
}

// TestOneRequestIsOneRequestAtTheOrigin: what passes the gate reaches the origin with
// the body that its framing says, and the next request begins behind it.
func TestOneRequestIsOneRequestAtTheOrigin(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	f := func(raw string, seen ...string) {
		t.Helper()
		want := strings.TrimSpace(strings.Repeat("200 ", len(seen)))
		if got := statuses(t, e, raw+smuggled); got != want {
			t.Errorf("%q: got %s, want %s", raw, got, want)
		}
		if got, _ := w.take(); fmt.Sprint(got) != fmt.Sprint(seen) {
			t.Errorf("%q: the origin got %q, want %q", raw, got, seen)
		}
	}
	const next, h = "GET h /smuggled ", "Host: h\r\n"
	f("GET /a HTTP/1.1\r\n"+h+"\r\n", "GET h /a ", next)
	f("GET /a%2f..//b?x=//y HTTP/1.1\r\n"+h+"\r\n", "GET h /a%2f..//b?x=//y ", next)
	f("GET /a? HTTP/1.1\r\n"+h+"\r\n", "GET h /a? ", next)
	f("GET /%61%7e?x=%2f%zz HTTP/1.1\r\n"+h+"\r\n", "GET h /a~?x=%2F%zz ", next)
	f("POST /%61%7e?x=%2f HTTP/1.1\r\n"+h+"Content-Length: 3\r\n\r\nabc", "POST h /%61%7e?x=%2f abc", next)
	f("GET http://x:81/a HTTP/1.1\r\n"+h+"\r\n", "GET x:81 /a ", next)
	f("GET http://h HTTP/1.1\r\n"+h+"\r\n", "GET h / ", next)
	f("GET http://h/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET h /a ", next)
	f("OPTIONS * HTTP/1.1\r\n"+h+"\r\n", "OPTIONS h * ", next)
	f("OPTIONS http://x HTTP/1.1\r\n"+h+"\r\n", "OPTIONS x * ", next)
	f("POST /a HTTP/1.1\r\n"+h+"Content-Length: 003\r\n\r\nabc", "POST h /a abc", next)
	f("GET /a HTTP/1.1\r\n"+h+"Content-Length: 3\r\n\r\nabc", "GET h /a abc", next)
	f("HEAD /a HTTP/1.1\r\n"+h+"Content-Length: 3\r\n\r\nabc", "HEAD h /a abc", next)
	f(fmt.Sprintf("POST /a HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", h, len(smuggled), smuggled), "POST h /a "+smuggled, next)
}

// TestFramingFieldsWithUnderscoresAreNotForwarded: a server that reads underscores as hyphens finds no
// second framing in the fields that are handed on.
func TestFramingFieldsWithUnderscoresAreNotForwarded(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always+"unusual_field_names: keep\n", w.script)
	ask(t, e, "GET /a HTTP/1.1\r\nHost: h\r\nTransfer_Encoding: chunked\r\nContent_Length: 7\r\nKeep_Alive: 1\r\nX_Y: z\r\n\r\n")
	_, head := w.take()
	for _, name := range []string{"Transfer_encoding", "Content_length", "Keep_alive"} {
		if v, there := head[name]; there {
			t.Errorf("the origin got %s: %q", name, v)
		}
	}
	if head.Get("X_Y") != "z" {
		t.Errorf("got X_Y: %q, want z: others stay", head.Get("X_Y"))
	}
}

// malformedChunks are chunked bodies that both readers of requests refuse.
var malformedChunks = []string{
	"3\nabc\r\n0\r\n\r\n", "3;\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\r\nab\r\n0\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n",
	"-3\r\nabc\r\n0\r\n\r\n", "\r\nabc\r\n0\r\n\r\n", "3;\rx\r\nabc\r\n0\r\n\r\n", "ffffffffffffffff3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nContent-Length: 1\r\n\r\n",
	"3\r\nabc\r\n0\r\n\n", "3\r\nabc\r\n0\r\nX: y\n\n", "3\r\nabc\r\n0\r\nX: y\r\n\n",
}

// TestAChunkedUploadEndedTheConnection although all of it had come. A body that could end in two ways is refused, and what is
// behind it is not read.
func TestAChunkedUploadEndedTheConnection(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	const head = " /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, method := range []string{"POST", "GET"} {
		for _, body := range []string{"3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nX: y\r\n\r\n", "3;x=y\r\nabc\r\n0\r\n\r\n"} {
			if got := statuses(t, e, method+head+body+smuggled); got != "200 200" {
				t.Errorf("%s %q: got %s, want 200 and 200", method, body, got)
			}
			if seen, _ := w.take(); len(seen) != 2 || seen[0] != method+" h /a abc" || seen[1] != "GET h /smuggled " {
				t.Errorf("%s %q: the origin got %q", method, body, seen)
			}
		}
	}
	const zeros = "00000000000000000"
	for _, body := range append([]string{
		"3 \r\nabc\r\n0\r\n\r\n", " 3\r\nabc\r\n0\r\n\r\n", "3\t;x\r\nabc\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n", zeros + "3\r\nabc\r\n0\r\n\r\n", "8000000000000000\r\nabc\r\n0\r\n\r\n",
		"3\r\nabc0\r\n\r\n", "3\r\nabc\r0\r\n\r\n", "3;x\ry\r\nabc\r\n0\r\n\r\n", "3;" + strings.Repeat("x", 2000) + "\r\nabc\r\n0\r\n\r\n",
		"3\r\nabc\r\n0\r\nX : y\r\n\r\n", "3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n", "3\r\nabc\r\n0\r\n" + strings.Repeat("X: "+strings.Repeat("y", 100)+"\r\n", 200) + "\r\n",
	}, malformedChunks...) {
		if got := statuses(t, e, "POST"+head+body+smuggled); got != "400" {
			t.Errorf("%.100q: got %s, want 400 and the end", body, got)
		}
		if seen, _ := w.take(); len(seen) > 0 { // a whole request only
			t.Errorf("%.100q: the origin got %q", body, seen)
		}
	}
}

// TestChunkedRequestIsTheLast: fasthttp ends a trailer section at a bare LF, and does
// not say so. A proxy in front that reads on to the CRLF takes the request behind it
// for trailer fields. So such a section is refused, and whatever follows chunks that fasthttp reads is not read.
func TestChunkedRequestIsTheLast(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	const head = " /a HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, method := range []string{"POST", "GET"} {
		for _, body := range []string{
			"3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nX: y\r\n\r\n", "3;x=y\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n",
		} {
			if got := statuses(t, e, method+head+body+smuggled); got != "200" {
				t.Errorf("%s %q: got %s, want 200 and the end", method, body, got)
			}
			if seen, _ := w.take(); len(seen) != 1 || seen[0] != method+" h /a abc" {
				t.Errorf("%s %q: the origin got %q", method, body, seen)
			}
		}
	}
	for _, body := range malformedChunks {
		if got := statuses(t, e, "POST"+head+body+smuggled); got != "400" {
			t.Errorf("%q: got %s, want 400 and the end", body, got)
		}
		if seen, _ := w.take(); len(seen) > 0 { // a whole request only
			t.Errorf("%q: the origin got %q", body, seen)
		}
	}
}

// TestLFInTheRequestLine: fasthttp takes a bare LF for the end of the request line and
// for an empty line before it, and keeps no trace of it. The raw header block begins
// behind it, and there every line has to end in CRLF. So to a parser that ends the
// request line at its CRLF alone, one line at most looks different: the first, which
// for that parser belongs to the request line. It changes the framing only if it is
// Content-Length or Transfer-Encoding; then the connection ends with the answer, and
// what the other parser sends as the next request is not read as one.
func TestLFInTheRequestLine(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	f := func(raw, want string, seen ...string) {
		t.Helper()
		if got := statuses(t, e, raw+smuggled); got != want {
			t.Errorf("%q: got %s, want %s", raw, got, want)
		}
		if got, _ := w.take(); fmt.Sprint(got) != fmt.Sprint(seen) {
			t.Errorf("%q: the origin got %q, want %q", raw, got, seen)
		}
	}
	const next, h = "GET h /smuggled ", "Host: h\r\n"
	// Both parsers see a request of the same length.
	f("\n\r\n\nGET /a HTTP/1.1\r\n"+h+"\r\n", "200 200", "GET h /a ", next)
	f("GET /a HTTP/1.1\n"+h+"\r\n", "200 200", "GET h /a ", next)
	f("GET /a HTTP/1.1\nX: y HTTP/1.1\r\n"+h+"\r\n", "200 200", "GET h /a ", next)
	f("GET /a HTTP/1.1\nHost: x HTTP/1.1\r\n"+h+"\r\n", "400")
	f("GET /a HTTP/1.1\nX: y\nZ: y\r\n"+h+"\r\n", "400")
	f("GET /a HTTP/1.1\n\r\n", "400")
	f("GET /a HTTP/1.1\n\n", "400")
	f("GET /a\nX: y HTTP/1.1\r\n"+h+"\r\n", "400")
	// They differ.
	f("GET /a HTTP/1.1\nContent-Length: 3 HTTP/1.1\r\n"+h+"\r\nabc", "400")
	f("GET /a HTTP/1.1\nTransfer-Encoding: chunked HTTP/1.1\r\n"+h+"\r\n0\r\n\r\n", "400")
	f("POST /a HTTP/1.1\nContent-Length: 3\r\n"+h+"Content-Length: 5\r\n\r\nabcde", "400")
	f("GET /a HTTP/1.1\nContent-Length: 3\r\n"+h+"\r\nabc", "200", "GET h /a abc")
	f("POST /a HTTP/1.1\nTransfer-Encoding:chunked\r\n"+h+"\r\n3\r\nabc\r\n0\r\n\r\n", "200", "POST h /a abc")
	// HTTP/1.0 without any field: no keep-alive, so nothing follows.
	f("GET http://h/a HTTP/1.0\n\n", "200", "GET h /a ")
	f("GET http://h/a HTTP/1.0\r\n\n", "200", "GET h /a ")
}

// TestAnOptionsRequestGoesNoFurtherThanItMay: Max-Forwards was forwarded as it came, also 0 (RFC 9110 section 7.6.2). Other methods do not
// heed it.
func TestAnOptionsRequestGoesNoFurtherThanItMay(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	f := func(method, sent, want string) {
		t.Helper()
		answer := ask(t, e, method+" /a HTTP/1.1\r\nHost: h\r\nMax-Forwards: "+sent+"\r\n\r\n")
		_, head := w.take()
		if got := strings.Join(head["Max-Forwards"], "; "); head == nil || got != want {
			t.Errorf("%s with Max-Forwards: %s: the origin got %q, want %q", method, sent, got, want)
		}
		if allow := answer.header.Get("Allow"); allow != "" {
			t.Errorf("%s with Max-Forwards: %s: answered here, with Allow: %s", method, sent, allow)
		}
	}
	f("OPTIONS", "1", "0")
	f("OPTIONS", "10", "9")
	f("OPTIONS", "18446744073709551615", "18446744073709551614")
	f("OPTIONS", "many", "many")
	f("OPTIONS", "1\r\nMax-Forwards: 3", "0; 2")
	f("GET", "0", "0")
	f("POST", "0", "0")
	for _, target := range []string{"/a", "*"} {
		for _, sent := range []string{"0", "00", "5\r\nMax-Forwards: 0"} {
			answer := ask(t, e, "OPTIONS "+target+" HTTP/1.1\r\nHost: h\r\nMax-Forwards: "+sent+"\r\n\r\n")
			if seen, _ := w.take(); len(seen) > 0 {
				t.Errorf("OPTIONS %s with Max-Forwards: %q: the origin got %q", target, sent, seen)
			}
			if answer.status != http.StatusOK || answer.header.Get("Allow") == "" {
				t.Errorf("OPTIONS %s with Max-Forwards: %q: got %d and Allow: %q, want 200 and methods", target, sent, answer.status, answer.header.Get("Allow"))
			}
		}
	}
}
