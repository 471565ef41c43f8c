package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"edgeproxy/internal/test/edgetest"
)

// withDeadlines has writes to clients end by a deadline: the kernel does not drop stalled clients of a socket in the file system.
const withDeadlines = `
listen: [{address: "127.0.0.1:0"}, {address: "unix:{dir}/socket"}]
limits: {write_idle_timeout: 1h}
`

// TestABodyIsPinnedWhileItIsSent: in each way in which what is stored is sent, a body that is
// purged meanwhile is counted, and no longer than that.
func TestABodyIsPinnedWhileItIsSent(t *testing.T) {
	const size, slice = 4 << 20, 256 << 10 // more than socket buffers hold
	film := newFilmOrigin(t, size).address
	play := func(name, listen string, most, sliceBytes int64, fields string, pinned func(got int64) bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, fmt.Sprintf("%s%scache: {memory: {max_object_bytes: %dB}, slice: %dB}\n", always, listen, most, sliceBytes), smallBuffers(edgetest.Options{Origin: film}))
			request := "GET /film HTTP/1.1\r\nHost: edge.test\r\n" + fields + "\r\n"
			whole := ask(t, e, asGet("/film"))
			if whole.err != nil || len(whole.body) != size {
				t.Fatalf("got %d bytes and %v", len(whole.body), whole.err)
			}
			s := dialSmallBuffers(t, e.Address)
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
	f := func(name string, most, sliceBytes int64, fields string, pinned func(got int64) bool) {
		play(name, "", most, sliceBytes, fields, pinned)
		if testing.Short() {
			return
		}
		play(name+", with deadlines", withDeadlines, most, sliceBytes, fields, pinned)
	}
	all := func(got int64) bool { return got == size }
	f("whole", 6<<20, 0, "", all)
	f("a range", 6<<20, 0, "Range: bytes=100-\r\n", all)
	f("several ranges", 6<<20, 0, fmt.Sprintf("Range: bytes=0-%d, %d-\r\n", size-200000, size-100000), all)
	f("slices that are no more than an object", 6<<20, slice, "", all)
	f("more slices than an object", 1<<20, slice, "", func(got int64) bool { return got <= slice }) // the slice of the moment, or one that is stored anew
}
