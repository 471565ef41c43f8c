package bridge

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func request(method, target, host string, header http.Header, body string, length int64) *http.Request {
	return &http.Request{Method: method, RequestURI: target, Host: host, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: length}
}

func TestARequestBecomesOneOnTheWire(t *testing.T) {
	f := func(r *http.Request, want string) {
		t.Helper()
		var b bytes.Buffer
		if err := send(&b, headOf(r), r); err != nil {
			t.Error(err)
		}
		if got := b.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	f(request("GET", "/a?b=%2F", "h:8443", nil, "", 0), "GET /a?b=%2F HTTP/1.1\r\nHost: h:8443\r\nConnection: close\r\n\r\n")
	f(request("POST", "/", "h", http.Header{"Content-Length": {"3"}}, "abc", 3),
		"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
	f(request("POST", "/", "h", nil, "abc", -1),
		"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f(request("POST", "/", "h", http.Header{"Content-Length": {"0"}}, "", 0),
		"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	f(request("GET", "/", "h", http.Header{"Te": {"trailers"}, "Expect": {"100-continue"}, "Host": {"h"}, "Upgrade": {"h2c"}, "X-A": {"1", ""}}, "", 0),
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-A: 1\r\nX-A: \r\nTE: trailers\r\n\r\n")
	trailing := func(length int64, values ...string) *http.Request {
		r := request("POST", "/", "h", nil, "abc", length)
		r.Trailer = http.Header{"X-Sum": nil, "X-Last": values}
		return r
	}
	f(trailing(-1, "1", "2"), "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Last, X-Sum\r\n\r\n"+
		"3\r\nabc\r\n0\r\nX-Last: 1\r\nX-Last: 2\r\n\r\n")
	f(trailing(3, "1"), "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
}

// TestAStreamThatBreaksOffIsNoEnd: a pipe tells of the end in either case.
func TestAStreamThatBreaksOffIsNoEnd(t *testing.T) {
	in, _ := net.Pipe()
	defer in.Close()
	client := newClient(in, nil)
	served := make(chan net.Conn, 1)
	end := dial(t.Context(), func(c net.Conn) bool { served <- c; return true }, client, &tls.ConnectionState{})
	server := <-served
	go func() {
		_, _ = io.WriteString(end, "abc")
		_ = end.Close()
	}()
	if text, err := io.ReadAll(server); string(text) != "abc" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, %v, want %v behind abc", text, err, io.ErrUnexpectedEOF)
	}
	end = dial(t.Context(), func(c net.Conn) bool { served <- c; return true }, client, &tls.ConnectionState{})
	_ = end.Close()
	if _, err := (<-served).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v where nothing was asked, want %v", err, io.EOF)
	}
}

// TestTrailersThatWouldBeMoreBreakTheRequestOff: by the time they come its head is sent.
func TestTrailersThatWouldBeMoreBreakTheRequestOff(t *testing.T) {
	for name, value := range map[string]string{"X-A": "1\r\n\r\nGET / HTTP/1.1", "X-B": "\x00", "X-C": "\n"} {
		r := request("POST", "/", "h", nil, "abc", -1)
		r.Trailer = http.Header{name: nil}
		head := headOf(r)
		if string(head) == refused {
			t.Fatal("refused before the trailers")
		}
		r.Trailer[name] = []string{value}
		var b bytes.Buffer
		if err := send(&b, head, r); err == nil || strings.Contains(b.String(), "\r\n0\r\n") {
			t.Errorf("%q: got %v and %q, want the request broken off", value, err, b.String())
		}
	}
}

func TestWhatWouldBeMoreThanOneIsRefused(t *testing.T) {
	f := func(r *http.Request) {
		t.Helper()
		var b bytes.Buffer
		if err := send(&b, headOf(r), r); err != nil || b.String() != refused {
			t.Errorf("%q %q %q %v: taken, want it refused", r.Method, r.RequestURI, r.Host, r.Header)
		}
	}
	f(request("GET /", "/", "h", nil, "", 0))
	f(request("", "/", "h", nil, "", 0))
	f(request("GET", "", "h", nil, "", 0))
	f(request("GET", "/a b", "h", nil, "", 0))
	f(request("GET", "/\r\n", "h", nil, "", 0))
	f(request("GET", "/\x7f", "h", nil, "", 0))
	f(request("GET", "/", "", nil, "", 0))
	f(request("GET", "https://i/", "h", nil, "", 0))
	f(request("GET", "//i/", "", nil, "", 0))
	f(request("GET", "*", "h", nil, "", 0))
	f(request("OPTIONS", "i:80", "h", nil, "", 0))
	f(request("GET", "/", "h\r\nx: y", nil, "", 0))
	f(request("GET", "/", "h", http.Header{"X-A": {"b\nc"}}, "", 0))
	f(request("GET", "/", "h", http.Header{"X-A": {"b\x00"}}, "", 0))
	f(request("GET", "/", "h", http.Header{"X A": {"b"}}, "", 0))
	f(request("GET", "/", "h", http.Header{"": {"b"}}, "", 0))
	f(request("GET", "/", "h", http.Header{"Host": {"i"}}, "", 0))
	f(request("POST", "/", "h", http.Header{"Content-Length": {"5"}}, "", 0))
	f(request("POST", "/", "h", http.Header{"Content-Length": {"3", "4"}}, "abc", 3))
	announced := request("POST", "/", "h", nil, "", -1)
	announced.Trailer = http.Header{"X\r\nY": nil}
	f(announced)
}

// FuzzWriteHead: what is written is read back as the same request by net/http, which has
// a parser of its own.
func FuzzWriteHead(f *testing.F) {
	f.Add("GET", "/a", "h", "X-A", "b")
	f.Add("GET", "/a HTTP/1.1\r\nX: y", "h", "X-A", "b\r\n")
	f.Add("get", "//h/%zz?#", "h:80", "Cookie", "a=b; c")
	f.Add("GET", "/a", "h", "Te", "trailers")
	f.Fuzz(func(t *testing.T, method, target, host, name, value string) {
		r := request(method, target, host, http.Header{name: {value}}, "", 0)
		head := headOf(r)
		if string(head) == refused {
			return
		}
		lines := strings.Split(string(head), "\r\n")
		if lines[0] != method+" "+target+" HTTP/1.1" || lines[1] != "Host: "+host || strings.Count(lines[0], " ") != 2 {
			t.Errorf("got %q for %q %q %q", head, method, target, host)
		}
		n := len(lines) // request line, Host, Connection, the field if it counts, and the end of the head
		if n != 5 && n != 6 || lines[n-1] != "" || lines[n-2] != "" {
			t.Errorf("got %d lines: %q", n, head)
		}
		if name == "Te" {
			name = "TE"
		}
		if n == 6 && lines[3] != name+": "+value {
			t.Errorf("got %q, want %q: %q", lines[3], name, value)
		}
	})
}
