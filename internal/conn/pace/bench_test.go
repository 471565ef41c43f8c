package pace

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"edgeproxy/internal/conn/pinned"
)

// BenchmarkSending is what a hit of more than pinned.Least bytes pays, among other connections.
func BenchmarkSending(b *testing.B) {
	total := pinned.NewTotal(1 << 30)
	w := New(Options{SendRate: Rate{Bytes: 1 << 10, Over: time.Minute}, Pinned: total, Log: slog.New(slog.DiscardHandler)})
	b.Cleanup(w.Close)
	conns := make([]net.Conn, 1000)
	for i := range conns {
		c, other := net.Pipe()
		b.Cleanup(func() { _, _ = c.Close(), other.Close() })
		w.Enter(c)
		conns[i] = c
	}
	body, at := total.Body(), time.Now()
	body.Land(1 << 20)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := w.Begin(conns[i%len(conns)], at)
		s.Hold(body)
		_ = s.Close()
	}
}
