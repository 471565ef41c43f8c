package shadow

import (
	"math"

	"edgeproxy/internal/admission"
)

// counts is what one policy has counted in its slice.
type counts struct {
	misses, originBytes          int64
	heldBack, writes, writeBytes int64
}

// PolicyStats is what one policy would have done since New.
//
// Requests and RequestBytes are those of all keys, exactly; what misses do is
// counted in the slice and scaled up by 1/Share. Hits are the rest: whether the
// few keys that make most of the requests are in the slice is chance, but they
// are hits in either case, so the misses tell more (SHARDS' correction of the
// first bucket, SHARDS_adj). While there are few requests the rest may come out
// below 0; it is 0 then. Bytes are of whole objects of known size.
type PolicyStats struct {
	Name string `json:"policy"` // such as always, second-hit or counting-4

	Requests     int64   `json:"requests"`
	RequestBytes int64   `json:"request_bytes"`
	Hits         int64   `json:"hits"`
	HitBytes     int64   `json:"hit_bytes"`
	HitRatio     float64 `json:"hit_ratio"` // 0 of no requests, as the other
	ByteHitRatio float64 `json:"byte_hit_ratio"`

	// OriginRequests and OriginBytes are fetched, Writes and WriteBytes go into
	// the cache. HeldBack are fills that the policy alone kept out.
	OriginRequests int64 `json:"origin_requests"`
	OriginBytes    int64 `json:"origin_bytes"`
	Writes         int64 `json:"writes"`
	WriteBytes     int64 `json:"write_bytes"`
	HeldBack       int64 `json:"held_back"`

	// SampledRequests and SampledHits are those of the slice, not scaled: how much
	// the rest rests on.
	SampledRequests int64 `json:"sampled_requests"`
	SampledHits     int64 `json:"sampled_hits"`
}

// Stats returns the state of every policy, in the order of Options.Rules.
// Requests that arrive meanwhile may be counted in part.
func (s *Shadow) Stats() []PolicyStats {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var requests, bytes int64
	for i := range s.all {
		requests += s.all[i].requests.Load()
		bytes += s.all[i].bytes.Load()
	}
	out := make([]PolicyStats, len(s.policies))
	for i := range s.policies {
		p := &s.policies[i]
		c := &p.counts
		out[i] = PolicyStats{
			Name: name(p.rule), Requests: requests, RequestBytes: bytes,
			OriginRequests: s.scale(c.misses), OriginBytes: s.scale(c.originBytes),
			Writes: s.scale(c.writes), WriteBytes: s.scale(c.writeBytes), HeldBack: s.scale(c.heldBack),
			SampledRequests: s.requests, SampledHits: s.requests - c.misses,
		}
		out[i].rest()
	}
	return out
}

// scale returns what n of the slice are of all keys, at most math.MaxInt64: some
// hundred objects of the largest size believed are more in a slice of 1/65536.
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
	n := s.sights.bytes()
	for i := range s.policies {
		n += s.policies[i].held.memory()
	}
	return n
}

// rest works out the hits.
func (p *PolicyStats) rest() {
	p.Hits = max(p.Requests-p.OriginRequests, 0)
	p.HitBytes = max(p.RequestBytes-p.OriginBytes, 0)
	p.HitRatio = ratio(p.Hits, p.Requests)
	p.ByteHitRatio = ratio(p.HitBytes, p.RequestBytes)
}

// ratio returns part/whole, 0 of nothing.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// name returns the word for a rule, in Stats and as a metric label.
func name(r admission.Rule) string { return r.Label("-") }
