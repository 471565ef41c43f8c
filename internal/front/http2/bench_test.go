package http2

import (
	"bytes"
	"io"
	"net"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"edgeproxy/internal/http/message"
)

// hits asks for 16 streams at once, again and again, without allocating anything.
type hits struct {
	c     net.Conn
	out   []byte // the 16 heads, whose streams are still to be written
	at    []int  // where these stand
	next  uint32
	in    []byte
	taken int // content that the server does not know of
}

const atOnce = 16

func newHits(tb testing.TB, address string) *hits {
	tb.Helper()
	c := dial(tb, address, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 30})
	_ = c.WriteWindowUpdate(0, 1<<30)
	h := &hits{c: c.c, next: 1, in: make([]byte, 64<<10)}
	var out bytes.Buffer
	w := xhttp2.NewFramer(&out, nil)
	for i := range atOnce + 1 {
		if i == 1 { // the first fills the table
			_, _ = h.c.Write(out.Bytes())
			out.Reset()
			h.take(tb, 1)
		}
		h.at = append(h.at, out.Len()+5)
		_ = w.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: c.encode(plain("GET", "/a", "user-agent", "bench", "accept", "*/*")...), EndHeaders: true, EndStream: true})
	}
	h.out, h.at, h.next = out.Bytes(), h.at[1:], 3
	return h
}

// round asks for 16, and takes the answers.
func (h *hits) round(tb testing.TB) {
	tb.Helper()
	for _, at := range h.at {
		h.out[at], h.out[at+1], h.out[at+2], h.out[at+3] = byte(h.next>>24), byte(h.next>>16), byte(h.next>>8), byte(h.next)
		h.next += 2
	}
	if _, err := h.c.Write(h.out); err != nil {
		tb.Fatal(err)
	}
	h.take(tb, atOnce)
}

// take reads until n streams have ended.
func (h *hits) take(tb testing.TB, n int) {
	tb.Helper()
	for n > 0 {
		head := h.in[:headBytes]
		if _, err := io.ReadFull(h.c, head); err != nil {
			tb.Fatal(err)
		}
		length, kind, flags := int(head[0])<<16|int(head[1])<<8|int(head[2]), head[3], head[4]
		if _, err := io.ReadFull(h.c, h.in[:length]); err != nil {
			tb.Fatal(err)
		}
		if kind <= 1 && flags&1 != 0 {
			n--
		}
		if kind == 0 {
			h.taken += length
		}
	}
	if h.taken > 1<<29 {
		_, _ = h.c.Write(grant(nil, 0, int64(h.taken)))
		h.taken = 0
	}
}

// stored is a hit: content in memory, and the fields that most have.
func stored(size int) *engine {
	body := make([]byte, size)
	list := fieldList("Content-Type", "text/html; charset=utf-8", "Cache-Control", "max-age=600", "Etag", `"0123456789abcdef"`,
		"Last-Modified", "Sun, 22 Nov 2026 13:40:54 GMT", "Vary", "Accept-Encoding", "Server", "origin", "X-Own", "1")
	return &engine{begin: func(_ *message.Request, a *message.Answer) message.Pending {
		a.Status, a.Length, a.Fields = 200, int64(size), list
		a.Lines = append(a.Lines, "Age: 1\r\nCache-Status: edgeproxy; hit; ttl=599\r\nDate: Sun, 22 Nov 2026 13:40:54 GMT\r\n"...)
		a.Say(body)
		return nil
	}}
}

// BenchmarkHit is what 16 hits at once cost, with the client that asks for them. Without the pool of
// buffers (write.go) each record would be 16 KiB of garbage, and without spare streams (scratch.go) each request 1 KiB.
func BenchmarkHit(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "16KiB": 16 << 10} {
		b.Run(name, func(b *testing.B) {
			_, address := serve(b, stored(size), streams(100))
			h := newHits(b, address)
			b.ReportAllocs()
			for b.Loop() {
				h.round(b)
			}
		})
	}
}

func streams(n int) func(*Options) { return func(o *Options) { o.Streams = n } }
