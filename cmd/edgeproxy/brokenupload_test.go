package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAnUploadThatBreaksOffIsNoRequest: a client of TLS that took leave between two chunks,
// and one of HTTP/2 that reset its stream there, were taken for ones whose body had ended,
// and the origin got a whole request (RFC 9112 section 8, RFC 9113 section 8.1).
func TestAnUploadThatBreaksOffIsNoRequest(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan bool), make(chan bool)
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadFull(r.Body, make([]byte, 3))
		begun <- err == nil
		_, err = io.ReadAll(r.Body)
		ended <- err == nil
	}))
	t.Cleanup(origin.Close)
	s := serveTLS(t, origin.URL, "limits: {request_buffer: 0B}") // or the origin would see nothing of them
	within := func(c <-chan bool, what string) bool {
		t.Helper()
		select {
		case ok := <-c:
			return ok
		case <-time.After(patience):
			t.Fatalf("%s: not in time", what)
			return false
		}
	}
	f := func(name string, c *tls.Conn, first, last []byte, whole bool) {
		t.Helper()
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = c.Write(first)
		if !within(begun, name) {
			t.Errorf("%s: the origin did not get what was sent", name)
		}
		_, _ = c.Write(last)
		if strings.HasPrefix(name, "HTTP/1.1") {
			_ = c.CloseWrite()
		}
		if got := within(ended, name); got != whole {
			t.Errorf("%s: to the origin the body was whole: %v, want %v", name, got, whole)
		}
	}
	one := func() *tls.Conn {
		t.Helper()
		c, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const head = "POST /a HTTP/1.1\r\nHost: www.example.com\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
	f("HTTP/1.1, between chunks", one(), []byte(head), nil, false)
	f("HTTP/1.1, within a chunk", one(), []byte(head), []byte("3\r\nde"), false)
	f("HTTP/1.1, at the end", one(), []byte(head), []byte("0\r\n\r\n"), true)
	stream := frame(1, 4, 1, fields(":method", "POST", ":scheme", "https", ":authority", "www.example.com", ":path", "/a"))
	stream = append(stream, frame(0, 0, 1, []byte("abc"))...)
	f("HTTP/2, reset", s.raw(t), stream, frame(3, 0, 1, []byte{0, 0, 0, 8}), false)
	f("HTTP/2, going away", s.raw(t), stream, frame(0, 0, 0, nil), false)
	f("HTTP/2, at the end", s.raw(t), stream, frame(0, 1, 1, nil), true)
}
