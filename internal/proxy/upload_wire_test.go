package proxy_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestChunksThatEndEarlyAreNoRequest: a client that ends its side of the connection
// between two chunks was taken for one at the end of its body, and the origin got a
// whole request (RFC 9112 section 8). One that does so behind the last chunk has sent
// one, and gets its answer.
func TestChunksThatEndEarlyAreNoRequest(t *testing.T) {
	w := &recordingOrigin{}
	e, _ := startBefore(t, always, w.script)
	const head, chunks, last = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n3\r\ndef\r\n", "0\r\n\r\n"
	f := func(body string, status int, seen ...string) {
		t.Helper()
		s := dial(t, e.Address)
		defer s.Close()
		if _, err := s.Write([]byte(head + body)); err != nil {
			t.Fatal(err)
		}
		if err := s.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if a := s.read(); a.status != status {
			t.Errorf("%.80q and the end: got %d %v, want %d", body, a.status, a.err, status)
		}
		if got, _ := w.take(); fmt.Sprint(got) != fmt.Sprint(seen) {
			t.Errorf("%.80q and the end: the origin got %.80q, want %.80q", body, got, seen)
		}
	}
	for cut := range len(chunks) + 1 {
		f(chunks[:cut], 400)
	}
	f(strings.Repeat(chunks, 1000), 400)
	f(chunks+last, 200, "POST h /a abcdef")
	f(last, 200, "POST h /a ")
	f(strings.Repeat(chunks, 1000)+last, 200, "POST h /a "+strings.Repeat("abcdef", 1000))
}
