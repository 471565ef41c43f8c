package shadow

import (
	"math"

	"edgeproxy/internal/admission"
)

// counts is the counters of one policy, for the slice.
type counts struct {
	misses, originBytes          int64
	heldBack, writes, writeBytes int64
}

// PolicyStats is what one policy would have done since New.
//
// Requests and RequestBytes are exact counts of all keys. Misses are counted in the
// slice and scaled up by 1/Share. Hits are requests less misses: it is chance whether
// the few keys with most of the requests are in the slice, but their requests are hits
// in either case, so misses are the better estimate (SHARDS_adj, the correction of the
// first bucket in SHARDS). If the difference is below 0, with few requests, hits are 0.
// Bytes are of whole objects of known size.
type PolicyStats struct {
	Name string `json:"policy"` // such as always, second-hit or counting-4; or LiveName

	Requests     int64   `json:"requests"`
	RequestBytes int64   `json:"request_bytes"`
	Hits         int64   `json:"hits"`
	HitBytes     int64   `json:"hit_bytes"`
	HitRatio     float64 `json:"hit_ratio"` // both ratios are 0 without requests
	ByteHitRatio float64 `json:"byte_hit_ratio"`

	// OriginRequests and OriginBytes are fetched; Writes and WriteBytes are stored.
	// HeldBack are storable fills that the policy did not store.
	OriginRequests int64 `json:"origin_requests"`
	OriginBytes    int64 `json:"origin_bytes"`
	Writes         int64 `json:"writes"`
	WriteBytes     int64 `json:"write_bytes"`
	HeldBack       int64 `json:"held_back"`

	// SampledRequests and SampledHits are those of the slice, not scaled. The estimates
	// rest on them.
	SampledRequests int64 `json:"sampled_requests"`
	SampledHits     int64 `json:"sampled_hits"`
}

// Stats returns the state of every policy: first that of the live routes, if it is tried, then the others in the order of Options.Rules.
// Requests that arrive meanwhile may be counted in part.
func (s *Shadow) Stats() []PolicyStats {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var requests, bytes int64
	for i := range s.totals {
		requests += s.totals[i].requests.Load()
		bytes += s.totals[i].bytes.Load()
	}
	out := make([]PolicyStats, len(s.policies))
	for i := range s.policies {
		p := &s.policies[i]
		c := &p.counts
		out[i] = PolicyStats{
			Name: p.name, Requests: requests, RequestBytes: bytes,
			OriginRequests: s.scale(c.misses), OriginBytes: s.scale(c.originBytes),
			Writes: s.scale(c.writes), WriteBytes: s.scale(c.writeBytes), HeldBack: s.scale(c.heldBack),
			SampledRequests: s.requests, SampledHits: s.requests - c.misses,
		}
		out[i].deriveHits()
	}
	return out
}

// scale scales n up from the slice to all keys. The result is at most math.MaxInt64: in a
// slice of 1/65536, some hundred objects of maxSize would exceed it.
func (s *Shadow) scale(n int64) int64 {
	if n > math.MaxInt64>>s.bits {
		return math.MaxInt64
	}
	return n << s.bits
}

// Bytes returns the memory of the records and the filters; it does not change.
func (s *Shadow) Bytes() int64 {
	if s == nil {
		return 0
	}
	n := s.filters.bytes() + s.live.bytes()
	for i := range s.policies {
		n += s.policies[i].cache.memory()
	}
	return n
}

// deriveHits sets the hits and their ratios.
func (p *PolicyStats) deriveHits() {
	p.Hits = max(p.Requests-p.OriginRequests, 0)
	p.HitBytes = max(p.RequestBytes-p.OriginBytes, 0)
	p.HitRatio = ratio(p.Hits, p.Requests)
	p.ByteHitRatio = ratio(p.HitBytes, p.RequestBytes)
}

// ratio returns part/whole, or 0 if whole is 0.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// name returns the name of a rule in Stats and as a metric label.
func name(r admission.Rule) string { return r.Label("-") }
