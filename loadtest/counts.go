package main

import (
	"fmt"
	"strings"
)

// The metrics the driver relies on. All must be there after a run, but the last
// two: regret is not measured by every version, the false-positive ratio only
// where there is a filter.
const (
	metricRequests       = "edgeproxy_requests_total"
	metricResponseBytes  = "edgeproxy_response_bytes_total"
	metricWrites         = "edgeproxy_cache_writes_total"
	metricWriteBytes     = "edgeproxy_cache_write_bytes_total"
	metricHeldBack       = "edgeproxy_cache_held_back_total"
	metricHeldBackBytes  = "edgeproxy_cache_held_back_bytes_total"
	metricOriginRequests = "edgeproxy_origin_requests_total"
	metricOriginBytes    = "edgeproxy_origin_bytes_total"
	metricEvictions      = "edgeproxy_cache_evictions_total"
	metricRegret         = "edgeproxy_admission_regret_total"
	metricFalsePositives = "edgeproxy_filter_false_positive_ratio"
)

// memoryTier selects the tier that the driver configures.
var memoryTier = [...]string{"tier", "memory"}

// hitResults are the values of the label result that count as hits.
var hitResults = [...]string{"hit", "stale", "revalidated"}

// counts is what edgeproxy counted: requests, responses and bytes of bodies, since
// its start or between two looks at it.
type counts struct {
	requests, hits, passed, failed int64 // failed: answered by edgeproxy's own errors
	responseBytes, hitBytes        int64
	failedBytes                    int64
	writes, writeBytes             int64
	heldBack, heldBackBytes        int64
	originRequests, originBytes    int64
	evictions                      int64
	regret                         *int64   // nil = not measured
	falsePositives                 *float64 // ratio now, not since; nil = not measured
}

// missingError names metrics that ought to be there.
type missingError struct{ names []string }

func (e *missingError) Error() string {
	return "edgeproxy's /metrics lacks " + strings.Join(e.names, ", ")
}

// counts reads the metrics of an edgeproxy under policy. A *missingError comes
// with the counts, the missing ones being 0: before the first request a metric
// need not be there.
func (e exposition) counts(policy string) (counts, error) {
	var missing []string
	total := func(name string, labels ...string) int64 {
		v, found := e.sum(name, labels...)
		if !found {
			missing = append(missing, name)
		}
		return int64(v)
	}
	c := counts{
		requests:       total(metricRequests),
		responseBytes:  total(metricResponseBytes),
		writes:         total(metricWrites, memoryTier[:]...),
		writeBytes:     total(metricWriteBytes, memoryTier[:]...),
		heldBack:       total(metricHeldBack),
		heldBackBytes:  total(metricHeldBackBytes),
		originRequests: total(metricOriginRequests),
		originBytes:    total(metricOriginBytes),
		evictions:      total(metricEvictions, memoryTier[:]...),
	}
	e.split(&c)
	e.optional(&c, policy)
	if len(missing) > 0 {
		return c, &missingError{missing}
	}
	return c, nil
}

// split fills in the counts by result. A result that never occurred may be
// missing.
func (e exposition) split(c *counts) {
	by := func(name, result string) int64 {
		v, _ := e.sum(name, "result", result)
		return int64(v)
	}
	for _, result := range hitResults {
		c.hits += by(metricRequests, result)
		c.hitBytes += by(metricResponseBytes, result)
	}
	c.passed = by(metricRequests, "pass")
	c.failed = by(metricRequests, "error")
	c.failedBytes = by(metricResponseBytes, "error")
}

func (e exposition) optional(c *counts, policy string) {
	if v, ok := e.sum(metricRegret); ok {
		n := int64(v)
		c.regret = &n
	}
	filter := strings.ReplaceAll(policy, "-", "_")
	if v, ok := e.sum(metricFalsePositives, "filter", filter, "kind", "measured"); ok {
		c.falsePositives = &v
	}
}

// since returns what was counted after before. Ratios stay as they are.
func (c counts) since(before counts) counts {
	c.requests -= before.requests
	c.hits -= before.hits
	c.passed -= before.passed
	c.failed -= before.failed
	c.responseBytes -= before.responseBytes
	c.hitBytes -= before.hitBytes
	c.failedBytes -= before.failedBytes
	c.writes -= before.writes
	c.writeBytes -= before.writeBytes
	c.heldBack -= before.heldBack
	c.heldBackBytes -= before.heldBackBytes
	c.originRequests -= before.originRequests
	c.originBytes -= before.originBytes
	c.evictions -= before.evictions
	if c.regret != nil && before.regret != nil {
		n := *c.regret - *before.regret
		c.regret = &n
	}
	return c
}

// hitRatio and byteHitRatio are in [0, 1], over all but edgeproxy's own errors.
func (c *counts) hitRatio() float64 { return ratio(c.hits, c.requests-c.failed) }

func (c *counts) byteHitRatio() float64 { return ratio(c.hitBytes, c.responseBytes-c.failedBytes) }

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// disagreements compares what edgeproxy counted with what the driver and the
// origin saw, one sentence for each difference.
func (c *counts) disagreements(t *tally, o *origin) (out []string) {
	differ := func(what string, proxy, seen int64, by string) {
		if proxy != seen {
			out = append(out, fmt.Sprintf("edgeproxy counted %d %s, %s %d", proxy, what, by, seen))
		}
	}
	differ("requests", c.requests, t.requests(), "the driver sent")
	differ("response bytes", c.responseBytes, t.bytes, "the driver received")
	differ("origin requests", c.originRequests, o.requests.Load(), "the origin served")
	differ("origin bytes", c.originBytes, o.bytes.Load(), "the origin sent")
	return out
}
