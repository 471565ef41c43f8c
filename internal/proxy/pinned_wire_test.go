package proxy_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/edgetest"
)

// TestABodyIsPinnedWhileItIsSent: in each way in which what is stored is sent, a body that is
// purged meanwhile is counted, and no longer than that.
func TestABodyIsPinnedWhileItIsSent(t *testing.T) {
	const size = 16 << 20 // more than socket buffers hold
	film := newFilmOrigin(t, size).address
	play := func(name string, writeIdle time.Duration, most, slice int64, fields string, pinned func(got int64) bool) {
		t.Run(name, func(t *testing.T) {
			o := edgetest.Options{Rule: always(), MaxBytes: 160 << 20, MaxObjectBytes: most, SliceBytes: slice, WriteIdle: writeIdle}
			o.Origin.Address = film
			e := edgetest.Start(t, o)
			request := "GET /film HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n"
			whole := ask(t, e, asGet("/film"))
			if whole.err != nil || len(whole.body) != size {
				t.Fatalf("got %d bytes and %v", len(whole.body), whole.err)
			}
			s := dial(t, e.Address)
			_ = s.Conn.(*net.TCPConn).SetReadBuffer(64 << 10)
			res, err := s.head(request)
			if err != nil {
				t.Fatal(err)
			}
			if status := res.Header.Get("Cache-Status"); !strings.Contains(status, "; hit") {
				t.Fatalf("got %q, want a hit", status)
			}
			if got := e.Store.Stats().PinnedBytes; got != 0 {
				t.Errorf("in the cache: %d bytes pinned, want 0", got)
			}
			if _, _, err := e.Proxy.Purge("all", nil, false); err != nil {
				t.Fatal(err)
			}
			_ = ask(t, e, asGet("/film")) // in its place
			eventually(t, "what has left is counted", func() bool { return pinned(e.Store.Stats().PinnedBytes) })
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Error(err)
			}
			eventually(t, "then nothing", func() bool { return e.Store.Stats().PinnedBytes == 0 })
		})
	}
	f := func(name string, most, slice int64, fields string, pinned func(got int64) bool) {
		play(name, -1, most, slice, fields, pinned)
		play(name+", with deadlines", time.Minute, most, slice, fields, pinned)
	}
	all := func(got int64) bool { return got == size }
	f("whole", 24<<20, 0, "", all)
	f("a range", 24<<20, 0, "Range: bytes=100-\r\n", all)
	f("several ranges", 24<<20, 0, fmt.Sprintf("Range: bytes=0-%d, %d-\r\n", size-200000, size-100000), all)
	f("slices that are no more than an object", 24<<20, 1<<20, "", all)
	f("more slices than an object", 4<<20, 1<<20, "", func(got int64) bool { return got <= 1<<20 }) // that of the moment, or one that is stored anew
}
