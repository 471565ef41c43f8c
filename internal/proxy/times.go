package proxy

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// bounds are the upper bounds of the buckets of times, the bound included. They run from a hit, a
// few dozen microseconds, to the longest wait for an origin.
var bounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	1 * time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// histogram counts times by buckets, in two atomic additions each: a hit is observed twice. It is
// read by collector. Its zero value is empty.
type histogram struct {
	counts [len(bounds) + 1]atomic.Int64 // by the first bound that is not exceeded; last: above all
	sum    atomic.Int64                  // in ticks: of nanoseconds it would be full after some months of much traffic
}

const tick = 100 * time.Nanosecond

// observe counts one time.
func (h *histogram) observe(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d / tick))
}

// send sends h as a histogram of Prometheus, in seconds, unless nothing was observed. Its count is
// that of its buckets; what is observed meanwhile may be in the sum already.
func (h *histogram) send(e emitter, d *prometheus.Desc, labels ...string) {
	sum := float64(h.sum.Load()) * tick.Seconds()
	buckets := make(map[float64]uint64, len(bounds))
	var count uint64
	for i := range bounds {
		count += uint64(h.counts[i].Load())
		buckets[bounds[i].Seconds()] = count
	}
	if count += uint64(h.counts[len(bounds)].Load()); count > 0 {
		d, labels = e.labelled(d, labels)
		e.out <- prometheus.MustNewConstHistogram(d, count, sum, buckets, labels...)
	}
}
