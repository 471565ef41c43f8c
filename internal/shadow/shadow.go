package shadow

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/policy"
)

// Shadow tries policies on a slice of the live requests. All methods are safe for
// concurrent use, and those of a nil Shadow do nothing.
type Shadow struct {
	mask uint64 // of the bits of lo that are 0 for the keys of the slice
	bits int    // how many they are: the slice is 1/2^bits of the keys

	all    [stripes]stripe
	sights sightings

	// mu guards what follows. It is taken for requests of the slice only, and held
	// while the policies are asked, never while a window rotates.
	mu       sync.Mutex
	requests int64 // in the slice
	policies []tried
}

// stripes is how many counters share the requests of all keys, so that
// processors seldom meet at one.
const (
	stripes    = 16
	stripeBits = 4
)

// stripe counts the requests of some keys, in and out of the slice. It fills a
// cache line. The two are added one after the other: a reader may find a request
// without its bytes.
type stripe struct {
	requests, bytes atomic.Int64
	_               [48]byte
}

// tried is one policy, with its miniature of the cache.
type tried struct {
	rule   admission.Rule
	held   *lru
	counts counts
}

// New returns a Shadow whose windows begin now. The error names every option
// that cannot work.
func New(o Options, now time.Time) (*Shadow, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("build the shadow policies: %w", err)
	}
	bits := o.bits()
	s := &Shadow{bits: bits, mask: (1<<bits - 1) << firstBit}
	capacity := max(o.CapacityBytes>>bits, 1)
	for _, r := range o.Rules {
		s.policies = append(s.policies, tried{rule: r, held: newLRU(capacity, o.MaxObjectBytes)})
	}
	var err error
	if s.sights, err = newSightings(o, bits, now); err != nil {
		return nil, fmt.Errorf("build the shadow policies: %w", err)
	}
	return s, nil
}

// Share returns the share of the keys that are followed: 1/2^n, or 0 by a nil
// Shadow.
func (s *Shadow) Share() float64 {
	if s == nil {
		return 0
	}
	return 1 / float64(uint64(1)<<s.bits)
}

// Request takes one finished request that is a sighting of the key with the
// 128-bit hash (hi, lo). It wants every one: those out of the slice it only
// counts, to know how much of the traffic the slice is.
//
// size is that of the whole object in bytes, -1 if unknown, which counts no bytes,
// as does a size above 1 TiB: a head can claim anything. storable says whether
// what was fetched for it may be stored, admission aside. Where a policy holds
// the object neither is needed: a storable size replaces the one held, and what is not
// storable, such as an error, a 304 or a 206, changes nothing of it. Else an
// unknown size is not stored.
//
// now is the time of the request, which may be a little before that of the call
// before. One call in a generation rotates the window, and returns later for it.
func (s *Shadow) Request(hi, lo uint64, size int64, storable bool, now time.Time) {
	if s == nil {
		return
	}
	if size > maxSize {
		size = unknown
	}
	all := &s.all[hi>>(64-stripeBits)]
	all.requests.Add(1)
	all.bytes.Add(max(size, 0))
	if !s.sampled(lo) {
		return
	}
	s.sights.pass(now)
	s.count(hi, lo, size, storable)
	s.sights.fill(now)
}

// count takes one request of the slice through all policies.
func (s *Shadow) count(hi, lo uint64, size int64, storable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	seen := s.sights.count(hi, lo) // here, so that the policies see an order of sightings
	for i := range s.policies {
		s.policies[i].request(hi, lo, size, storable, seen, s.requests)
	}
}

// sampled reports whether the slice has the key.
func (s *Shadow) sampled(lo uint64) bool { return lo&s.mask == 0 }

// request takes one request, of this number in the slice, through one policy.
func (p *tried) request(hi, lo uint64, size int64, storable bool, seen times, number int64) {
	latest := size
	if !storable {
		latest = unknown // of what was sent instead of the object
	}
	if p.held.hit(hi, lo, latest) {
		return
	}
	c := &p.counts
	c.misses++
	if size < 0 {
		return
	}
	c.originBytes += size
	switch {
	case !storable || !p.held.fits(size):
	case !p.rule.Decide(policy.Sighting{Times: seen[p.rule.Policy.Memory()], Number: number}).Admit:
		c.heldBack++
	default:
		p.held.store(hi, lo, size)
		c.writes++
		c.writeBytes += size
	}
}
