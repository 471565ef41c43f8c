package origin

import (
	"context"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
)

// wire returns what the origin receives for r, up to want bytes.
func wire(t *testing.T, r *Request, want int) string {
	t.Helper()
	got := make(chan string, 1)
	o := start(t, Options{}, func(_ int, p *peer) {
		b := make([]byte, want)
		n := 0
		for n < want {
			m, err := p.br.Read(b[n:])
			n += m
			if err != nil {
				break
			}
		}
		got <- string(b[:n])
		p.say(okWire)
		p.untilClosed()
	})
	wantBody(t, o, r, "ok")
	return <-got
}

func TestRequestIsSentByteForByte(t *testing.T) {
	f := func(r *Request, want string) {
		t.Helper()
		if got := wire(t, r, len(want)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, target := range []string{
		"/", "/a?", "/a?b=c&&d", "//x/http://e", "/%2f..", "/../a/./b//c", "/a;b=c", "/%zz", "/\xc3\xa9", "/a\"<>{}|\\^`", "*",
		"http://other.test/a?b#c",
	} {
		f(get(target), "GET "+target+" HTTP/1.1\r\nHost: origin.test\r\n\r\n")
	}
	header := field.List{{Name: "X-B", Value: "2"}, {Name: "Accept", Value: ""}, {Name: "X-A", Value: "\xc3\xa9"}, {Name: "X-B", Value: "1"}}
	f(&Request{Method: "GET", Target: "/", Host: "[::1]:80", Header: header},
		"GET / HTTP/1.1\r\nHost: [::1]:80\r\nX-B: 2\r\nAccept: \r\nX-A: \xc3\xa9\r\nX-B: 1\r\n\r\n")
	f(&Request{Method: "GET", Target: "/", ContentLength: 7}, "GET / HTTP/1.1\r\nHost: \r\n\r\n")
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		f(&Request{Method: method, Target: "/", Host: "h"}, method+" / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
	}
	f(&Request{Method: "delete", Target: "/", Host: "h"}, "delete / HTTP/1.1\r\nHost: h\r\n\r\n")
	f(&Request{Method: "GET", Target: "/", Host: "h", Body: strings.NewReader("abc"), ContentLength: 3},
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader(""), ContentLength: 0},
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
	f(&Request{Method: "POST", Target: "/", Host: "h", Header: header[:1], Body: strings.NewReader("0123456789abcdefg"), ContentLength: -1},
		"POST / HTTP/1.1\r\nHost: h\r\nX-B: 2\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n")
	f(&Request{Method: "POST", Target: "/", Host: "h", Body: strings.NewReader(""), ContentLength: -1},
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
}

func TestTrailersAreWelcome(t *testing.T) {
	r := &Request{Method: "GET", Target: "/", Host: "h", TakesTrailers: true}
	if got, want := string(r.appendHead(nil, "", false)), "GET / HTTP/1.1\r\nHost: h\r\nConnection: TE\r\nTE: trailers\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Upgrade = "websocket" // whose Connection is its own
	if got, want := string(r.appendHead(nil, "", false)), "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What would end a line, or frame the request anew, is another request in the
// eyes of the origin.
func TestRequestThatWouldSplitIsNotSent(t *testing.T) {
	o := open(t, Options{Dial: pipes(t, each(okWire))})
	f := func(change func(*Request)) {
		t.Helper()
		r := get("/")
		change(r)
		_, err := o.RoundTrip(context.Background(), r)
		wantKind(t, err, BadRequest)
		if openCount(o) != 0 {
			t.Errorf("%+v: a connection was made", r)
		}
	}
	for _, method := range []string{"", "GE T", "GET\r\n", "GET\x00", "CONNECT"} {
		f(func(r *Request) { r.Method = method })
	}
	for _, target := range []string{"", "/ HTTP/1.1", "/\r\nX: y", "/\n", "/\t", "/\x00", "/\x7f"} {
		f(func(r *Request) { r.Target = target })
	}
	for _, host := range []string{"a b", "a\r\nX: y", "a\n"} {
		f(func(r *Request) { r.Host = host })
	}
	for _, x := range []field.Field{
		{Name: "", Value: "x"},
		{Name: "X Y", Value: "x"},
		{Name: "X:", Value: "x"},
		{Name: "X\r\n", Value: "x"},
		{Name: "X", Value: "a\r\nb"},
		{Name: "X", Value: "a\nb"},
		{Name: "X", Value: "a\x00b"},
		{Name: "Host", Value: "x"},
		{Name: "host", Value: "x"},
		{Name: "Connection", Value: "close"},
		{Name: "Content-Length", Value: "0"},
		{Name: "content-LENGTH", Value: "0"},
		{Name: "Transfer-Encoding", Value: "chunked"},
	} {
		f(func(r *Request) { r.Header = field.List{{Name: "Accept", Value: "*/*"}, x} })
	}
	f(func(r *Request) { r.Body, r.ContentLength = strings.NewReader(""), -2 })
	f(func(r *Request) { r.Header = field.List{{Name: "TE", Value: "trailers"}} })
}
