package main

import (
	"strconv"
	"strings"

	"edgeproxy/internal/lab/metrics"
)

// The metrics of edgeproxy that the driver relies on. All must exist after a run,
// except those of a filter if the policy has none.
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

// maxGenerations bounds the search for generations; edgeproxy has at most 4.
const maxGenerations = 8

// The tiers that the driver configures.
var (
	memoryTier = [...]string{"tier", "memory"}
	stageTier  = [...]string{"tier", "stage"}
	diskTier   = [...]string{"tier", "disk"}
)

// hitResults are the values of the label result that count as hits.
var hitResults = [...]string{"hit", "stale", "revalidated"}

// missingError names required metrics that /metrics lacks.
type missingError struct{ names []string }

func (e *missingError) Error() string {
	return "edgeproxy's /metrics lacks " + strings.Join(e.names, ", ")
}

// metricReader reads counts from an exposition and collects the names that it lacks.
type metricReader struct {
	metrics.Exposition
	missing []string
}

func (m *metricReader) required(name string, labels ...string) int64 {
	v, found := m.Sum(name, labels...)
	if !found {
		m.missing = append(m.missing, name)
	}
	return int64(v)
}

// countsIn reads the metrics of an edgeproxy with configuration c. With a *missingError
// it also returns the counts, the missing ones as 0: before the first request a metric
// need not exist.
func countsIn(e metrics.Exposition, c *edgeConfig) (counts, error) {
	m := metricReader{Exposition: e}
	guarded := memoryTier
	if c.diskBytes > 0 {
		guarded = diskTier
	}
	regret, regretBytes := m.required(metricRegret), m.required(metricRegretBytes)
	n := counts{
		requests:       m.required(metricRequests),
		responseBytes:  m.required(metricResponseBytes),
		writes:         m.required(metricWrites, guarded[:]...),
		writeBytes:     m.required(metricWriteBytes, guarded[:]...),
		promotions:     m.required(metricPromotions),
		heldBack:       m.required(metricHeldBack),
		heldBackBytes:  m.required(metricHeldBackBytes),
		regret:         &regret,
		regretBytes:    &regretBytes,
		originRequests: m.required(metricOriginRequests),
		originBytes:    m.required(metricOriginBytes),
		evictions:      m.required(metricEvictions, guarded[:]...),
	}
	if c.stageBytes > 0 {
		n.stageWrites = m.required(metricWrites, stageTier[:]...)
		n.stageWriteBytes = m.required(metricWriteBytes, stageTier[:]...)
	}
	m.addByResult(&n)
	n.filter = m.filter(c.rule.Policy.Section())
	if len(m.missing) > 0 {
		return n, &missingError{m.missing}
	}
	return n, nil
}

// addByResult fills in the counts by result. A result that never occurred may be
// missing.
func (m *metricReader) addByResult(c *counts) {
	by := func(name, result string) int64 {
		v, _ := m.Sum(name, "result", result)
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

// filter reads the state of a policy's filter, nil if there is none.
func (m *metricReader) filter(name string) *filterState {
	var s filterState
	for len(s.fills) < maxGenerations {
		v, ok := m.Sum(metricFill, "filter", name, "generation", strconv.Itoa(len(s.fills)))
		if !ok {
			break
		}
		s.fills = append(s.fills, v)
	}
	rate := func(kind string) *float64 {
		if v, ok := m.Sum(metricFalsePositives, "filter", name, "kind", kind); ok {
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
