package main

import (
	"strconv"
	"strings"
)

// The metrics of edgeproxy that the driver relies on. All must be there after a
// run, but those of a filter where the policy has none.
const (
	metricRequests       = "edgeproxy_requests_total"
	metricResponseBytes  = "edgeproxy_response_bytes_total"
	metricWrites         = "edgeproxy_cache_writes_total"
	metricWriteBytes     = "edgeproxy_cache_write_bytes_total"
	metricPromotions     = "edgeproxy_cache_promotions_total"
	metricHeldBack       = "edgeproxy_cache_held_back_total"
	metricHeldBackBytes  = "edgeproxy_cache_held_back_bytes_total"
	metricRegret         = "edgeproxy_admission_regret_total"
	metricRegretBytes    = "edgeproxy_admission_regret_bytes_total"
	metricOriginRequests = "edgeproxy_origin_requests_total"
	metricOriginBytes    = "edgeproxy_origin_bytes_total"
	metricEvictions      = "edgeproxy_cache_evictions_total"
	metricFill           = "edgeproxy_filter_fill_ratio"
	metricFalsePositives = "edgeproxy_filter_false_positive_ratio"
)

// maxGenerations bounds the look for generations; edgeproxy has at most 4.
const maxGenerations = 8

// The tiers that the driver configures.
var (
	memoryTier = [...]string{"tier", "memory"}
	stageTier  = [...]string{"tier", "stage"}
	diskTier   = [...]string{"tier", "disk"}
)

// hitResults are the values of the label result that count as hits.
var hitResults = [...]string{"hit", "stale", "revalidated"}

// missingError names metrics that ought to be there.
type missingError struct{ names []string }

func (e *missingError) Error() string {
	return "edgeproxy's /metrics lacks " + strings.Join(e.names, ", ")
}

// metricReader takes counts out of an exposition and notes what it lacks.
type metricReader struct {
	exposition
	missing []string
}

func (m *metricReader) total(name string, labels ...string) int64 {
	v, found := m.sum(name, labels...)
	if !found {
		m.missing = append(m.missing, name)
	}
	return int64(v)
}

// counts reads the metrics of an edgeproxy under c. A *missingError comes with the
// counts, the missing ones being 0: before the first request a metric need not be
// there.
func (e exposition) counts(c *edgeConfig) (counts, error) {
	m := metricReader{exposition: e}
	guarded := memoryTier
	if c.diskBytes > 0 {
		guarded = diskTier
	}
	regret, regretBytes := m.total(metricRegret), m.total(metricRegretBytes)
	n := counts{
		requests:       m.total(metricRequests),
		responseBytes:  m.total(metricResponseBytes),
		writes:         m.total(metricWrites, guarded[:]...),
		writeBytes:     m.total(metricWriteBytes, guarded[:]...),
		promotions:     m.total(metricPromotions),
		heldBack:       m.total(metricHeldBack),
		heldBackBytes:  m.total(metricHeldBackBytes),
		regret:         &regret,
		regretBytes:    &regretBytes,
		originRequests: m.total(metricOriginRequests),
		originBytes:    m.total(metricOriginBytes),
		evictions:      m.total(metricEvictions, guarded[:]...),
	}
	if c.stageBytes > 0 {
		n.stageWrites = m.total(metricWrites, stageTier[:]...)
		n.stageWriteBytes = m.total(metricWriteBytes, stageTier[:]...)
	}
	e.split(&n)
	n.filter = e.filter(c.rule.Policy.Section())
	if len(m.missing) > 0 {
		return n, &missingError{m.missing}
	}
	return n, nil
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

// filter reads the filter of a policy, nil where there is none.
func (e exposition) filter(name string) *filterState {
	var s filterState
	for len(s.fills) < maxGenerations {
		v, ok := e.sum(metricFill, "filter", name, "generation", strconv.Itoa(len(s.fills)))
		if !ok {
			break
		}
		s.fills = append(s.fills, v)
	}
	rate := func(kind string) *float64 {
		if v, ok := e.sum(metricFalsePositives, "filter", name, "kind", kind); ok {
			return &v
		}
		return nil
	}
	expected := rate("expected")
	if expected == nil {
		return nil
	}
	s.expected, s.expectedOfSample, s.measured = *expected, rate("expected_sampled"), rate("measured")
	return &s
}
