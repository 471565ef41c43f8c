package origin

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// firstByteBounds are the upper bounds of the buckets of edgeproxy_origin_first_byte_seconds, each included.
var firstByteBounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// FirstByte is how long an origin took to its first bytes, by buckets. The zero value has no response in it.
type FirstByte struct {
	Count int64         // responses
	Sum   time.Duration // sum of all their times

	upTo [len(firstByteBounds)]int64 // how many took no longer than the bound
}

// FirstByte returns what edgeproxy_origin_first_byte_seconds has of o: its responses since the start of the process, those of
// Origins of the same name before it included. It is safe for concurrent use.
func (o *Origin) FirstByte() (f FirstByte) {
	h, ok := o.metrics.firstByte.(prometheus.Metric)
	var d dto.Metric
	if !ok || h.Write(&d) != nil {
		return f
	}
	f.Count, f.Sum = int64(d.GetHistogram().GetSampleCount()), seconds(d.GetHistogram().GetSampleSum()) //nolint:gosec // a count
	for i, b := range d.GetHistogram().GetBucket() {
		if i < len(f.upTo) {
			f.upTo[i] = int64(b.GetCumulativeCount()) //nolint:gosec // a count
		}
	}
	return f
}

// Bytes returns what edgeproxy_origin_bytes_total has of o, those of Origins of the same name before it included. It is safe for concurrent use.
func (o *Origin) Bytes() int64 {
	var d dto.Metric
	if o.metrics.bytes.Write(&d) != nil {
		return 0
	}
	return int64(d.GetCounter().GetValue())
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Since returns what has come to f since before. Where the counts have begun anew in between, that is all of f.
func (f FirstByte) Since(before FirstByte) FirstByte {
	if before.Count > f.Count {
		return f
	}
	f.Count -= before.Count
	f.Sum -= before.Sum
	for i := range f.upTo {
		f.upTo[i] -= before.upTo[i]
	}
	return f
}

// Mean returns the mean, 0 of no responses.
func (f FirstByte) Mean() time.Duration {
	if f.Count == 0 {
		return 0
	}
	return f.Sum / time.Duration(f.Count)
}

// Quantile returns an estimate of the time that the share q of the responses did not exceed, 0 of no responses. It takes the
// times within a bucket as evenly spread, as histogram_quantile of Prometheus does, so it errs by less than the bucket is
// wide. What took longer than the last bound is given as that.
func (f FirstByte) Quantile(q float64) time.Duration {
	if f.Count == 0 {
		return 0
	}
	rank := q * float64(f.Count)
	low, below := 0.0, int64(0)
	for i, upTo := range f.upTo {
		if float64(upTo) >= rank && upTo > below {
			high := firstByteBounds[i]
			return seconds(low + (high-low)*(rank-float64(below))/float64(upTo-below))
		}
		low, below = firstByteBounds[i], upTo
	}
	return seconds(firstByteBounds[len(firstByteBounds)-1])
}
