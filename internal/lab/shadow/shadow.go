package shadow

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
)

// Shadow tries policies on a slice of the live requests. All methods are safe for
// concurrent use, and those of a nil Shadow do nothing.
type Shadow struct {
	mask uint64 // bits of lo that are 0 for the keys of the slice
	bits int    // the number of those bits: the slice is 1/2^bits of the keys

	totals  [stripes]stripe
	filters sightingFilters // every request is a sighting for each policy that is tried
	live    sightingFilters // filters of the live rules: a request is a sighting for its own rule alone, as in the gate

	// mu guards what follows. Only requests of the slice take it, for the policies, and
	// never while a window rotates.
	mu       sync.Mutex
	requests int64 // in the slice
	policies []triedPolicy
}

// stripes is how many counters share the requests of all keys, so that processors
// seldom use the same one.
const (
	stripes    = 16
	stripeBits = 4
)

// stripe counts the requests of some keys, in the slice or not. It fills a cache line.
// The two counters are not updated together: a reader may find a request without its
// bytes.
type stripe struct {
	requests, bytes atomic.Int64
	_               [48]byte
}

// triedPolicy is one policy with its miniature of the cache.
type triedPolicy struct {
	name   string
	rule   admission.Rule // unless live
	live   bool           // each request brings its rule
	cache  *lru
	counts counts
}

// New returns a Shadow whose windows begin now. The error names every invalid option.
func New(o Options, now time.Time) (*Shadow, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("build the shadow policies: %w", err)
	}
	bits := o.bits()
	s := &Shadow{bits: bits, mask: (1<<bits - 1) << firstBit}
	capacity := max(o.CapacityBytes>>bits, 1)
	if len(o.Live) > 0 {
		s.policies = append(s.policies, triedPolicy{name: LiveName, live: true, cache: newLRU(capacity, o.MaxObjectBytes)})
	}
	for _, r := range o.Rules {
		s.policies = append(s.policies, triedPolicy{name: name(r), rule: r, cache: newLRU(capacity, o.MaxObjectBytes)})
	}
	var err error
	if s.filters, err = newSightingFilters(o, o.Rules, bits, now); err == nil {
		s.live, err = newSightingFilters(o, o.Live, bits, now)
	}
	if err != nil {
		return nil, fmt.Errorf("build the shadow policies: %w", err)
	}
	return s, nil
}

// Share returns the share of the keys in the slice: 1/2^n, or 0 for a nil Shadow.
func (s *Shadow) Share() float64 {
	if s == nil {
		return 0
	}
	return 1 / float64(uint64(1)<<s.bits)
}

// Request counts one finished request that is a sighting of the key with the 128-bit
// hash (hi, lo). live is the rule that the live cache has for it; without Options.Live it has no effect. The caller passes every such request: those outside the slice are only
// counted, to know the share of traffic in the slice.
//
// size is that of the whole object in bytes, or -1 if it is unknown. An unknown size, or
// one above 1 TiB, counts no bytes: a head can claim anything. storable says whether what
// was fetched may be stored, admission aside. If a policy has the object, a storable size
// replaces the cached one; a response that is not storable, such as an error, a 304 or a
// 206, does not change it. An object of unknown size is not stored.
//
// now is the time of the request. It may be a little before that of the call before. One
// call in a generation rotates the window, and takes longer.
func (s *Shadow) Request(live admission.Rule, hi, lo uint64, size int64, storable bool, now time.Time) {
	if s == nil {
		return
	}
	if size > maxSize {
		size = unknownSize
	}
	all := &s.totals[hi>>(64-stripeBits)]
	all.requests.Add(1)
	all.bytes.Add(max(size, 0))
	if !s.sampled(lo) {
		return
	}
	s.filters.rotateByTime(now)
	s.live.rotateByTime(now)
	s.count(live, hi, lo, size, storable)
	s.filters.rotateWhenFull(now)
	s.live.rotateWhenFull(now)
}

// count counts one request of the slice with all policies.
func (s *Shadow) count(live admission.Rule, hi, lo uint64, size int64, storable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	seen := s.filters.count(hi, lo) // under mu, so that sightings have one order
	for i := range s.policies {
		p := &s.policies[i]
		if p.live {
			var own sightingCounts
			m := live.Policy.Memory()
			own[m] = s.live.record(m, hi, lo)
			p.request(live, hi, lo, size, storable, own, s.requests)
			continue
		}
		p.request(p.rule, hi, lo, size, storable, seen, s.requests)
	}
}

// sampled reports whether the slice has the key.
func (s *Shadow) sampled(lo uint64) bool { return lo&s.mask == 0 }

// request counts one request with the policy, whose rule it is. number is the request's number in the slice.
func (p *triedPolicy) request(rule admission.Rule, hi, lo uint64, size int64, storable bool, seen sightingCounts, number int64) {
	latest := size
	if !storable {
		latest = unknownSize // size is that of another response, not of the object
	}
	if p.cache.hit(hi, lo, latest) {
		return
	}
	c := &p.counts
	c.misses++
	if size < 0 {
		return
	}
	c.originBytes += size
	switch {
	case !storable || !p.cache.fits(size):
	case !rule.Decide(policy.Sighting{Times: seen[rule.Policy.Memory()], Number: number}).Admit:
		c.heldBack++
	default:
		p.cache.store(hi, lo, size)
		c.writes++
		c.writeBytes += size
	}
}
