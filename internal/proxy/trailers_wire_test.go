package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// checksums answers in chunks with trailers, which may be stored where the target says so,
// and passes on what it was asked.
func checksums(asked chan<- *edgetest.Request) func(*edgetest.Conn) {
	return func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			asked <- r
			control := "no-store"
			if strings.HasPrefix(r.RequestURI, "/kept") {
				control = "max-age=3600"
			}
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: " + control + "\r\nTrailer: X-Sum, Cache-Control, X-Never\r\nTransfer-Encoding: chunked\r\n\r\n")
			if r.Method != "HEAD" {
				c.Say("3\r\nabc\r\n0\r\nx-sum: 1\r\nCache-Control: max-age=600\r\nSet-Cookie: a=b\r\nX-Late: 2\r\nx-sum: 3\r\n\r\n")
			}
		}
	}
}

// sendAndReadBehind sends a request on a connection of its own and returns what came behind the body.
func sendAndReadBehind(t *testing.T, e *edgetest.Edge, request string) (res *http.Response, trailers string) {
	t.Helper()
	s := dial(t, e.Address)
	defer s.Close()
	if _, err := io.WriteString(s, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(s.r, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || method != "HEAD" && !strings.Contains("abc", string(body)) {
		t.Errorf("%q: got %q, %v", request, body, err)
	}
	return res, fmt.Sprint(res.Trailer)
}

func TestTrailersReachClientsThatAcceptThem(t *testing.T) {
	asked := make(chan *edgetest.Request, 1)
	e, _ := startBefore(t, always+"cache: {uncacheable_for: 1h}", checksums(asked))
	const all, none = "map[X-Late:[2] X-Never:[] X-Sum:[1 3]]", "map[]"
	f := func(request, want, te string) {
		t.Helper()
		res, got := sendAndReadBehind(t, e, request)
		if got != want {
			t.Errorf("%q: got the trailers %s, want %s", request, got, want)
		}
		for _, name := range []string{"X-Sum", "X-Late", "Set-Cookie"} {
			if res.Header.Get(name) != "" {
				t.Errorf("%q: the trailer %s has become a field of the head", request, name)
			}
		}
		if te == "hit" {
			if res.ContentLength < 0 || !strings.Contains(res.Header.Get("Cache-Status"), "; hit") {
				t.Errorf("%q: got length %d, %s, want a hit with its length", request, res.ContentLength, res.Header.Get("Cache-Status"))
			}
			return
		}
		if r := <-asked; r.Header.Get("Te") != te || (r.Header.Get("Connection") == "TE") != (te != "") {
			t.Errorf("%q: the origin got TE %q, Connection %q, want TE %q", request, r.Header.Get("Te"), r.Header.Get("Connection"), te)
		}
	}
	const h, takes = " HTTP/1.1\r\nHost: h\r\n", "Connection: TE\r\nTE: trailers\r\n"
	// For one client alone: the origin is told.
	f("POST /a"+h+takes+"\r\n", all, "trailers")
	f("POST /a"+h+"TE: gzip;q=0.1 , Trailers\r\n\r\n", all, "trailers")
	f("POST /a"+h+"\r\n", none, "")
	f("POST /a"+h+"TE: gzip\r\n\r\n", none, "")
	f("POST /a HTTP/1.0\r\nHost: h\r\n"+takes+"\r\n", none, "")
	f("HEAD /a"+h+takes+"\r\n", none, "trailers")
	// By a flight, which asks for none, and passes on what comes.
	f("GET /b"+h+takes+"\r\n", all, "")
	f("GET /b"+h+takes+"\r\n", all, "trailers") // nobody shares it any more
	f("GET /kept"+h+takes+"\r\n", all, "")
	f("GET /kept"+h+takes+"\r\n", none, "hit")
	f("GET /kept"+h+takes+"Range: bytes=0-1\r\n\r\n", none, "hit")
	f("GET /kept2"+h+"\r\n", none, "")
	f("GET /kept2"+h+takes+"\r\n", none, "hit")
	f("GET /kept3"+h+takes+"Authorization: x\r\n\r\n", all, "trailers")
}

// TestAPostThatVariesOnTEIsNotKept: what TE selects has been asked for by TE, which later
// requests are not compared by.
func TestAPostThatVariesOnTEIsNotKept(t *testing.T) {
	vary := ""
	e, _ := startBefore(t, always+"cache: {store_post_answers: true}", func(c *edgetest.Conn) {
		for r := c.Next(); r != nil; r = c.Next() {
			c.Say("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Location: " + r.RequestURI + "\r\n" + vary + "Content-Length: 3\r\n\r\nabc")
		}
	})
	for i, want := range []string{"; hit", "; fwd="} {
		target := fmt.Sprintf("/%d", i)
		ask(t, e, asGet(target+"?sight")) // lets the origin be known
		a := ask(t, e, "POST "+target+" HTTP/1.1\r\nHost: edge.test\r\nTE: trailers\r\nContent-Length: 0\r\n\r\n")
		if a.status != 200 {
			t.Fatalf("got %d %v", a.status, a.err)
		}
		if a = ask(t, e, asGet(target)); !strings.Contains(a.cache, want) {
			t.Errorf("%q: got %q, want %q", vary, a.cache, want)
		}
		vary = "Vary: te\r\n"
	}
}

// TestTrailersOfAnUpload sends them by HTTP/1.1; what the origin gets is read as it is on
// the wire.
func TestTrailersOfAnUpload(t *testing.T) {
	got := make(chan string, 1)
	e, _ := startBefore(t, always+"cache: {store_post_answers: true}", func(c *edgetest.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c.Rest()))
		if err != nil {
			return
		}
		announced := fmt.Sprint(r.Trailer)
		body, err := io.ReadAll(r.Body)
		got <- fmt.Sprintf("%s %s %v; %s", body, r.Trailer, err, announced)
		c.Say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	})
	f := func(fields, section, want string) {
		t.Helper()
		a := ask(t, e, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"+fields+"\r\n3\r\nabc\r\n0\r\n"+section+"\r\n")
		if g := <-got; a.status != 200 || g != want {
			t.Errorf("%q: got %d, the origin %q; want %q", section, a.status, g, want)
		}
	}
	f("", "", "abc map[] <nil>; map[]")
	f("Trailer: X-Sum\r\n", "X-Sum: 1\r\nx-sum:2\r\n", "abc map[X-Sum:[1 2]] <nil>; map[X-Sum:[]]")
	f("", "X-Sum: 1\r\n", "abc map[X-Sum:[1]] <nil>; map[]")
	f("Trailer: X-Sum, If-Match, X-Never\r\nTrailer: x-sum\r\n", "X-Sum: 1\r\nIf-Match: *\r\n", "abc map[X-Never:[] X-Sum:[1]] <nil>; map[X-Never:[] X-Sum:[]]")
	f("X-Sum: of the head\r\nTrailer: X-Sum\r\n", "", "abc map[X-Sum:[]] <nil>; map[X-Sum:[]]")
	f("Connection: X-Hop\r\nTrailer: X-Hop\r\n", "X-Hop: 1\r\n", "abc map[] <nil>; map[]")
	f("", "X_Forwarded_For: 1\r\nX-Host: 2\r\nContent_Length: 3\r\n", "abc map[] <nil>; map[]")
}

// TestARequestCutInItsTrailersWasComplete: fasthttp takes a body whose trailer section is cut off for whole. The client
// got a 200, and the origin a complete request without the trailers.
func TestARequestCutInItsTrailersWasComplete(t *testing.T) {
	var complete atomic.Int32
	e, _ := startBefore(t, always, func(c *edgetest.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c.Rest()))
		if err != nil {
			return
		}
		if _, err := io.ReadAll(r.Body); err == nil {
			complete.Add(1)
			c.Say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}
	})
	const end = "0\r\nX-A: 1\r\nX-B: 2\r\n\r\n"
	for cut := range len(end) {
		s := dial(t, e.Address)
		if _, err := io.WriteString(s, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n3\r\nabc\r\n"+end[:cut]); err != nil {
			t.Fatal(err)
		}
		if err := s.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if a := s.read(); a.status != 400 || complete.Load() != 0 {
			t.Errorf("cut at %d: got %d, and the origin %d complete requests", cut, a.status, complete.Load())
		}
		_ = s.Close()
	}
}
