package proxy

import (
	"testing"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
)

// TestSoftPurgeHoldsForRequestsThatBeganBeforeTheSweep is a regression test: such a
// request found an entry whose freshness ended later than the request had begun.
func TestSoftPurgeHoldsForRequestsThatBeganBeforeTheSweep(t *testing.T) {
	received := time.Unix(1_800_000_000, 0)
	const initial, sweep = 3 * time.Second, 10 * time.Second
	for _, lifetime := range []time.Duration{time.Second, 12 * time.Second, time.Hour} {
		e := &cache.Entry{ResponseTime: received, InitialAge: initial, Policy: rfc9111.Policy{Lifetime: lifetime}}
		s := swept(e, received.Add(sweep))
		for _, at := range []time.Duration{0, sweep - 1, sweep, sweep + 1, time.Minute} {
			age := rfc9111.CurrentAge(s.InitialAge, s.ResponseTime, received.Add(at))
			if rfc9111.Fresh(s.Policy.Lifetime, age) {
				t.Errorf("lifetime %v, swept after %v: fresh for a request of %v", lifetime, sweep, at)
			}
			if want := initial + max(at, sweep); age != want {
				t.Errorf("lifetime %v, at %v: got age %v, want %v", lifetime, at, age, want)
			}
		}
		if got, want := s.Policy.Lifetime, min(lifetime, initial+sweep); got != want {
			t.Errorf("lifetime %v: got %v after the sweep, want %v", lifetime, got, want)
		}
	}
}
