package origin

import (
	"testing"
	"time"
)

// took notes times in milliseconds.
func took(o *Origin, ms ...float64) {
	for _, t := range ms {
		o.metrics.waited(time.Duration(t * float64(time.Millisecond)))
	}
}

// nearly compares times that are sums of floats.
func nearly(a, b time.Duration) bool { return (a - b).Abs() < 10*time.Microsecond }

func TestFirstByteEstimates(t *testing.T) {
	f := func(mean, p50, p95 float64, ms ...float64) {
		t.Helper()
		o := &Origin{metrics: NewMetrics(nil).of("app")}
		took(o, ms...)
		got := o.FirstByte()
		for _, c := range []struct {
			name string
			got  time.Duration
			want float64
		}{{"mean", got.Mean(), mean}, {"p50", got.Quantile(.5), p50}, {"p95", got.Quantile(.95), p95}} {
			if !nearly(c.got, seconds(c.want/1000)) {
				t.Errorf("%v: got %s %v, want %v ms", ms, c.name, c.got, c.want)
			}
		}
		if got.Count != int64(len(ms)) {
			t.Errorf("got %d responses, want %d", got.Count, len(ms))
		}
	}
	f(0, 0, 0)
	f(3, 3.75, 4.875, 3)                  // half, and 0.95, of the way from 2.5 to 5
	f(0.5, 0.5, 0.95, .5, .5, .5, .5)     // from 0 to 1
	f(25.75, 0.6666667, 90, 1, 1, 1, 100) // the last bucket goes from 50 to 100, the bound included
	f(60000, 30000, 30000, 60000)         // beyond the last bound
	f(15000.5, 1, 28000, 1, 30000)
}

// What has come since is of its own time; counts that have begun anew are all of it.
func TestFirstByteSince(t *testing.T) {
	m := NewMetrics(nil)
	o := &Origin{metrics: m.of("app")}
	took(o, 1, 1, 1)
	before := o.FirstByte()
	if got := o.FirstByte().Since(before); got.Count != 0 || got.Mean() != 0 || got.Quantile(.95) != 0 {
		t.Errorf("nothing came: got %+v", got)
	}
	again := &Origin{metrics: m.of("app")} // after a reload, of the same name
	took(again, 200, 200)
	if got := again.FirstByte().Since(before); got.Count != 2 || !nearly(got.Mean(), 200*time.Millisecond) || got.Quantile(.5) < 100*time.Millisecond || got.Quantile(.95) > 250*time.Millisecond {
		t.Errorf("got %+v of mean %v, want two of 200ms", got, got.Mean())
	}
	anew := &Origin{metrics: NewMetrics(nil).of("app")}
	took(anew, 7)
	if got := anew.FirstByte().Since(before); got.Count != 1 || !nearly(got.Mean(), 7*time.Millisecond) {
		t.Errorf("counted anew: got %+v", got)
	}
}
