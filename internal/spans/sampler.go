package spans

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Sampler says which requests are traced. It is safe for concurrent use, takes no lock and
// allocates nothing.
type Sampler struct {
	share float64
	most  uint64
	state atomic.Uint64 // the second, and behind it how many were taken in it
}

// countBits are those of Sampler.state that count.
const countBits = 24

// MostPerSecond is the largest limit of a Sampler.
const MostPerSecond = 1<<countBits - 1

// NewSampler returns a Sampler that takes a share, 0 to 1, of the requests about which nobody has
// decided, by lot, and at most so many of all requests in a second, 1 to MostPerSecond.
func NewSampler(share float64, mostPerSecond int) *Sampler {
	return &Sampler{share: share, most: uint64(mostPerSecond)} //nolint:gosec // it is above 0
}

// Draw draws the lot of a request about which nobody has decided. A nil Sampler takes none.
func (s *Sampler) Draw() bool {
	return s != nil && s.share > 0 && (s.share >= 1 || rand.Float64() < s.share) //nolint:gosec // a sample is no secret
}

// Take reports whether one more request may be traced at now, and counts it.
func (s *Sampler) Take(now time.Time) bool {
	second := uint64(now.Unix()) //nolint:gosec // after 1970
	for {
		old := s.state.Load()
		next := max(second, old>>countBits) << countBits // time does not go back for who comes late
		if next>>countBits == old>>countBits {
			next = old
		}
		if next&(1<<countBits-1) >= s.most {
			return false
		}
		if s.state.CompareAndSwap(old, next+1) {
			return true
		}
	}
}
