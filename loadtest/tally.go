package main

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// lateAfter is how far a request may be sent after its time before it counts as late.
	lateAfter    = 10 * time.Millisecond
	maxLatency   = time.Hour // longer ones count as this
	maxSamples   = 5
	latencyExact = 3 // significant digits
)

// tally is the measurements of one connection, or of all. It is not safe for concurrent use.
type tally struct {
	latency   *hdrhistogram.Histogram // microseconds from the scheduled time to the last byte
	ok        int64
	errors    int64
	samples   []string // the first errors
	bytes     int64    // received in bodies, complete or not
	late      int64
	worstLate time.Duration
}

func newTally() *tally {
	return &tally{latency: hdrhistogram.New(1, maxLatency.Microseconds(), latencyExact)}
}

// add records one finished request. A failed one has no latency.
func (t *tally) add(j job, sent time.Time, bytes int64, err error) {
	t.bytes += bytes
	late := sent.Sub(j.due)
	t.worstLate = max(t.worstLate, late)
	if late > lateAfter {
		t.late++
	}
	if err != nil {
		t.errors++
		if len(t.samples) < maxSamples {
			t.samples = append(t.samples, err.Error())
		}
		return
	}
	t.ok++
	took := min(max(time.Since(j.due), time.Microsecond), maxLatency)
	_ = t.latency.RecordValue(took.Microseconds()) // within its range by the line above
}

func (t *tally) requests() int64 { return t.ok + t.errors }

// quantile returns the latency in seconds that share q (0 to 1) of the requests
// did not exceed; 0 when none succeeded.
func (t *tally) quantile(q float64) float64 {
	return float64(t.latency.ValueAtQuantile(100*q)) / 1e6
}

func merge(all []*tally) *tally {
	sum := newTally()
	for _, t := range all {
		sum.latency.Merge(t.latency)
		sum.ok += t.ok
		sum.errors += t.errors
		sum.bytes += t.bytes
		sum.late += t.late
		sum.worstLate = max(sum.worstLate, t.worstLate)
		sum.samples = append(sum.samples, t.samples[:min(len(t.samples), maxSamples-len(sum.samples))]...)
	}
	return sum
}
