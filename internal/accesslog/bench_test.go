package accesslog

import (
	"io"
	"testing"
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
			line := full()
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

// BenchmarkEncode is a line without the queue.
func BenchmarkEncode(b *testing.B) {
	for name, format := range formats(b) {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			line := full()
			for b.Loop() {
				buf = format.append(buf[:0], line)
			}
		})
	}
}
