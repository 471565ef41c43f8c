package origin

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// The benchmarks fetch 16 KiB over loopback from the same origin, which
// allocates nothing and writes each response at once: ours against the standard
// library.

const benchmarkBodyBytes = 16 << 10

func benchmarkOrigin(tb testing.TB) string {
	tb.Helper()
	return answering(tb, benchmarkBodyBytes)
}

// smallOrigin is one whose responses fit in a buffer.
func smallOrigin(tb testing.TB) string {
	tb.Helper()
	return answering(tb, 1<<10)
}

// answering returns the address of an origin whose bodies have that many bytes.
func answering(tb testing.TB, bodyBytes int) string {
	tb.Helper()
	response := []byte("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"Cache-Control: max-age=60\r\nEtag: \"abc\"\r\nServer: test\r\nContent-Length: " + strconv.Itoa(bodyBytes) + "\r\n\r\n" +
		strings.Repeat("x", bodyBytes))
	return loopback(tb, func(_ int, p *peer) {
		for {
			line, err := p.br.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) > len("\r\n") {
				continue
			}
			if _, err := p.Write(response); err != nil {
				return
			}
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	o := open(b, Options{Address: benchmarkOrigin(b)})
	ctx := b.Context()
	buf := make([]byte, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		res, err := o.RoundTrip(ctx, get("/page?a=b"))
		if err != nil {
			b.Fatal(err)
		}
		drain(b, res.Body, buf)
	}
}

func BenchmarkNetHTTP(b *testing.B) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	url := "http://" + benchmarkOrigin(b) + "/page?a=b"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	buf := make([]byte, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		drain(b, res.Body, buf)
	}
}

func drain(b testing.TB, body io.ReadCloser, buf []byte) {
	b.Helper()
	n := 0
	for {
		m, err := body.Read(buf)
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if n != benchmarkBodyBytes {
		b.Fatalf("got %d bytes", n)
	}
	body.Close()
}

// BenchmarkCall is BenchmarkRoundTrip by a Call, for a body that comes with the head.
func BenchmarkCall(b *testing.B) {
	o := open(b, Options{Address: smallOrigin(b)})
	ctx := b.Context()
	buf := make([]byte, 32<<10)
	r := get("/page?a=b")
	fetchOnce := func() {
		c := o.Start(ctx, r)
		c.Ready()
		res, err := c.Finish()
		if err != nil {
			b.Fatal(err)
		}
		_, _ = res.Body.Read(buf)
		res.Body.Close()
	}
	fetchOnce()
	b.ReportAllocs()
	for b.Loop() {
		fetchOnce()
	}
}
