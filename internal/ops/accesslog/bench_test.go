package accesslog

import (
	"io"
	"net/netip"
	"testing"
	"time"
)

// The queue is larger than the default, because with every processor busy in
// Write the writer may get no turn for some milliseconds; a dropped line costs
// less than a queued one, so the figure holds only with few drops per line.
func BenchmarkWrite(b *testing.B) {
	for name, format := range formats(b) {
		b.Run(name, func(b *testing.B) {
			l, err := New(io.Discard, Options{QueueBytes: 64 << 20})
			if err != nil {
				b.Fatal(err)
			}
			line := hit()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					l.WriteAs(format, line)
				}
			})
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(l.Dropped())/float64(b.N), "dropped/op")
		})
	}
}

// hit is a line of a hit, as a browser asks for it.
func hit() *Line {
	return &Line{
		Time: time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC), Client: netip.MustParseAddr("203.0.113.201"),
		Host: []byte("www.example.com"), Target: []byte("/assets/style.css?v=42"), Method: []byte("GET"), Scheme: "https", Protocol: "HTTP/2.0",
		Status: 200, Bytes: 18302, Result: "hit", Route: "default", Duration: 31 * time.Microsecond, FirstByte: 31 * time.Microsecond, TTL: 1799 * time.Second,
		UserAgent: []byte("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), Referer: []byte("https://www.example.com/"),
	}
}

// BenchmarkEncode is a line of a hit without the queue.
func BenchmarkEncode(b *testing.B) {
	for name, format := range formats(b) {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			var c clock
			line := hit()
			for b.Loop() {
				buf = format.append(buf[:0], &c, line)
			}
		})
	}
}
