package proxy

import (
	"math"
	"time"

	"edgeproxy/internal/http/statusclass"
)

// Counts are what has been counted since the start, of all requests and of each route, at one moment. They are immutable. The zero Counts
// are of no moment.
type Counts struct {
	At time.Time

	all    departed
	routes map[string]tally // the routes that have series, by name
}

// Counts returns the counts of now. They are read while requests go on, as those of Status.
func (p *Proxy) Counts() Counts {
	routes, all := p.Metrics.all() // routes that are gone count as well
	c := Counts{At: now(), all: all, routes: make(map[string]tally, len(routes))}
	for _, m := range routes {
		var one tally
		one.add(m)
		c.all.add(m)
		c.routes[m.name] = one
	}
	return c
}

// Avoided returns the part of c that is about writes avoided.
func (c *Counts) Avoided() AvoidedCounts {
	a := AvoidedCounts{At: c.At, all: c.all.avoided(), routes: make(map[string]Avoided, len(c.routes))}
	for name := range c.routes {
		one := c.routes[name]
		a.routes[name] = one.avoided()
	}
	return a
}

// AvoidedCounts are the writes avoided since the start, of all requests and of each route, at one moment. They are immutable.
type AvoidedCounts struct {
	At time.Time

	all    Avoided
	routes map[string]Avoided // the routes that have series, by name
}

// Avoided are writes avoided and their price, in the terms of Fills. Saved may be below 0 where more was promoted, or fetched again, than was
// held back in that time.
type Avoided struct {
	Saved       int64 `json:"saved"`
	SavedBytes  int64 `json:"saved_bytes"`
	Regret      int64 `json:"regret"`
	RegretBytes int64 `json:"regret_bytes"`
}

func (t *tally) avoided() Avoided {
	return Avoided{Saved: t.fills.Saved, SavedBytes: t.fills.SavedBytes, Regret: t.fills.Regret, RegretBytes: t.fills.RegretBytes}
}

func (a Avoided) since(before Avoided) Avoided {
	if a.Regret < before.Regret { // the counts have begun anew in between
		return a
	}
	return Avoided{a.Saved - before.Saved, a.SavedBytes - before.SavedBytes, a.Regret - before.Regret, a.RegretBytes - before.RegretBytes}
}

// Lately is what has become of the requests of a short time, all of it 0 without requests. Ratios are in [0, 1].
type Lately struct {
	Requests    int64            `json:"requests"`
	RequestRate float64          `json:"requests_per_second"`
	HitRatio    float64          `json:"hit_ratio"`
	Errors      int64            `json:"errors"` // requests that got a status 5xx, or no answer, but for those that were meant to
	ErrorRatio  float64          `json:"error_ratio"`
	Classes     map[string]int64 `json:"status_classes"`

	// OriginByteRate is how many bytes of bodies came from origins in a second; nil: it is not known, which it is of routes.
	OriginByteRate *float64 `json:"origin_bytes_per_second,omitempty"`

	// P50, P95 and P99 are quantiles of the time to the end of the answer, in seconds, estimated from the buckets of
	// edgeproxy_request_duration_seconds.
	P50 float64 `json:"p50_seconds"`
	P95 float64 `json:"p95_seconds"`
	P99 float64 `json:"p99_seconds"`
}

// lately returns what has come to t since before, over a time; nothing where there was no time.
func (t *tally) lately(before *tally, over time.Duration) Lately {
	if over <= 0 {
		return Lately{Classes: new(statusclass.Counts).Map()}
	}
	came := t.since(before)
	l := Lately{Requests: came.classes.All(), Errors: came.failed(), Classes: came.classes.Map()}
	l.RequestRate, l.ErrorRatio = float64(l.Requests)/over.Seconds(), ratio(l.Errors, l.Requests)
	l.HitRatio = ratio(fromStore(&came.requests), judged(&came.requests))
	l.P50, l.P95, l.P99 = came.times.quantileOr(0.5, 0), came.times.quantileOr(0.95, 0), came.times.quantileOr(0.99, 0)
	return l
}

// ResultCount is the number of Results.
const ResultCount = int(resultCount)

// Step is what came to all requests between two Counts. Ratios and P95 are NaN where there was nothing that they could be of.
type Step struct {
	Results       [ResultCount]int64 // requests, in the order of Results
	Classes       statusclass.Counts
	Errors        int64 // the errors that Lately counts
	Saved, Regret int64 // see Avoided
	HitRatio      float64
	ByteHitRatio  float64
	P95           float64 // quantile of the time to the end of the answer, in seconds
}

// Since returns what came to c since before.
func (c *Counts) Since(before *Counts) Step {
	t := c.all.since(&before.all.tally)
	avoided := t.avoided()
	return Step{
		Results: t.requests, Classes: t.classes, Errors: t.failed(), Saved: avoided.Saved, Regret: avoided.Regret,
		HitRatio:     float64(fromStore(&t.requests)) / float64(judged(&t.requests)),
		ByteHitRatio: float64(fromStore(&t.bytes)) / float64(judged(&t.bytes)),
		P95:          t.times.quantileOr(0.95, math.NaN()),
	}
}

// isOfAnother reports whether before are the counts of a route that has lost its series, and whose name another has now.
func (t *tally) isOfAnother(before *tally) bool {
	for i := range t.requests {
		if t.requests[i] < before.requests[i] {
			return true
		}
	}
	return t.fills.Regret < before.fills.Regret
}

// since returns what came to t since before: requests, bytes, statuses, times, and of the fills what avoided has.
func (t *tally) since(before *tally) (out tally) {
	if t.isOfAnother(before) {
		before = new(tally)
	}
	for i := range t.requests {
		out.requests[i] = t.requests[i] - before.requests[i]
		out.bytes[i] = t.bytes[i] - before.bytes[i]
	}
	out.classes, out.times = t.classes.Since(before.classes), t.times.since(&before.times)
	out.meant = max(t.meant-before.meant, 0)
	a := t.avoided().since(before.avoided())
	out.fills = Fills{Saved: a.Saved, SavedBytes: a.SavedBytes, Regret: a.Regret, RegretBytes: a.RegretBytes}
	return out
}

// failed returns how many had no answer, or a server error that was not meant.
func (t *tally) failed() int64 { return max(t.classes.Failed()-t.meant, 0) }

// fromStore returns how much by result was answered from the store.
func fromStore(by *[resultCount]int64) int64 {
	return by[resultHit] + by[resultStale] + by[resultRevalidated]
}

// judged returns what a hit ratio is of: all but errors.
func judged(by *[resultCount]int64) (n int64) {
	for i := range resultError {
		n += by[i]
	}
	return n
}

// times are counts of times by the buckets of a histogram.
type times [len(bounds) + 1]int64

func (t *times) add(h *histogram) {
	for i := range t {
		t[i] += h.counts[i].Load()
	}
}

func (t *times) since(before *times) (out times) {
	for i := range t {
		out[i] = t[i] - before[i]
	}
	return out
}

// quantileOr returns an estimate, in seconds, of the time that the share q did not exceed, none if there are no times. It takes the times within a bucket as
// evenly spread, as histogram_quantile of Prometheus does. What took longer than the last bound is given as that.
func (t *times) quantileOr(q, none float64) float64 {
	var all int64
	for _, n := range t {
		all += n
	}
	if all <= 0 {
		return none
	}
	rank, below, low := q*float64(all), int64(0), time.Duration(0)
	for i, high := range bounds {
		if upTo := below + t[i]; t[i] > 0 && float64(upTo) >= rank {
			return (low + time.Duration(float64(high-low)*(rank-float64(below))/float64(t[i]))).Seconds()
		}
		below += t[i]
		low = high
	}
	return bounds[len(bounds)-1].Seconds()
}
