package proxy

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// TestHistogram: a time that is a bound is below it, one above all is in the count alone, and an
// empty one is not sent.
func TestHistogram(t *testing.T) {
	sent := func(h *histogram) *dto.Histogram {
		out := make(chan prometheus.Metric, 1)
		h.send(emitter{out: out}, descDuration, "default", "hit")
		if len(out) == 0 {
			return nil
		}
		var m dto.Metric
		if err := (<-out).Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetHistogram()
	}
	var h histogram
	if got := sent(&h); got != nil {
		t.Fatalf("an empty histogram was sent: %v", got)
	}
	for _, d := range []time.Duration{0, 50 * time.Microsecond, 50*time.Microsecond + 1, time.Second, 30 * time.Second, 200 * 365 * 24 * time.Hour} {
		h.observe(d)
	}
	got := sent(&h)
	if got.GetSampleCount() != 6 || len(got.GetBucket()) != len(bounds) {
		t.Fatalf("got %v", got)
	}
	for _, b := range got.GetBucket() {
		want := uint64(3)
		switch {
		case b.GetUpperBound() == 50e-6:
			want = 2
		case b.GetUpperBound() == 30:
			want = 5
		case b.GetUpperBound() >= 1:
			want = 4
		}
		if b.GetCumulativeCount() != want {
			t.Errorf("up to %v s: got %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want)
		}
	}
	if want := 200*365*24*3600 + 31 + 100e-6; math.Abs(got.GetSampleSum()-want) > 1e-3 {
		t.Errorf("sum: got %v, want %v", got.GetSampleSum(), want)
	}
}
