package spans

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Sampler decides which requests are traced. It is safe for concurrent use, takes no lock and
// allocates nothing.
type Sampler struct {
	share float64
	most  uint64
	state atomic.Uint64 // the second, and in the low countBits the requests taken in it
}

// countBits is the number of low bits of Sampler.state that count requests.
const countBits = 24

// MostPerSecond is the largest limit of a Sampler.
const MostPerSecond = 1<<countBits - 1

// NewSampler returns a Sampler. It takes a random share, 0 to 1, of the requests whose caller has not
// decided, and at most mostPerSecond of all requests in a second, 1 to MostPerSecond.
func NewSampler(share float64, mostPerSecond int) *Sampler {
	return &Sampler{share: share, most: uint64(mostPerSecond)} //nolint:gosec // it is above 0
}

// Draw decides at random about a request whose caller has not decided. A nil Sampler takes none.
func (s *Sampler) Draw() bool {
	return s != nil && s.share > 0 && (s.share >= 1 || rand.Float64() < s.share) //nolint:gosec // a sample is no secret
}

// Take reports whether one more request may be traced at now, and counts it.
func (s *Sampler) Take(now time.Time) bool {
	second := uint64(now.Unix()) //nolint:gosec // after 1970
	for {
		old := s.state.Load()
		next := max(second, old>>countBits) << countBits // a late caller does not set the second back
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
