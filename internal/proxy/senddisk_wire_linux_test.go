package proxy_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// TestAHitFromTheDiskIsTheSame: whole and in parts, and while its client is slow and the body is purged.
func TestAHitFromTheDiskIsTheSame(t *testing.T) {
	const size = 3<<20 + 12345
	e := start(t, always, edgetest.Options{Origin: newFilmOrigin(t, size).address, Disk: true})
	want := ask(t, e, asGet("/film"))
	if want.err != nil || len(want.body) != size {
		t.Fatalf("got %d bytes and error %v", len(want.body), want.err)
	}
	if err := e.Disk().Flush(); err != nil { // or it is sent from what waits to be written
		t.Fatal(err)
	}
	for range 3 {
		if got := ask(t, e, asGet("/film")); got.body != want.body || got.err != nil {
			t.Errorf("whole: got %d bytes and error %v, want the film", len(got.body), got.err)
		}
	}
	for _, r := range [][2]int{{0, 99_999}, {100_001, 300_000}, {size - 70_000, size - 1}, {5, 10}, {1, size - 2}} {
		got := ask(t, e, fmt.Sprintf("GET /film HTTP/1.1\r\nHost: edge.test\r\nRange: bytes=%d-%d\r\n\r\n", r[0], r[1]))
		if got.body != want.body[r[0]:r[1]+1] || got.err != nil {
			t.Errorf("bytes %d to %d: got %d bytes and error %v", r[0], r[1], len(got.body), got.err)
		}
	}
	s := dial(t, e.Address)
	_ = s.Conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	res, err := s.head(asGet("/film"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Proxy.Purge("all", nil, false); err != nil {
		t.Fatal(err)
	}
	_ = ask(t, e, asGet("/film")) // in its place
	if got, err := io.ReadAll(res.Body); string(got) != want.body || err != nil {
		t.Errorf("to a slow client: got %d bytes and error %v", len(got), err)
	}
}
