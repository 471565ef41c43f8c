package sliding

import (
	"time"

	"edgeproxy/internal/bloom"
)

// Filter remembers sightings for a window. All methods are safe for concurrent
// use; Seen and Has take no lock, do not allocate and never wait for a
// rotation.
type Filter struct {
	ring *bloom.Ring[*bloom.Filter]
}

// New returns an empty filter whose first generation begins now. The error
// names every option that cannot work (*bloom.OptionError).
func New(o bloom.Options, now time.Time) (*Filter, error) {
	ring, err := bloom.NewRing(o, now, bloom.NewFilter)
	if err != nil {
		return nil, err
	}
	return &Filter{ring: ring}, nil
}

// Seen records a sighting of the key with the 128-bit hash (hi, lo) and reports
// whether the window already held one. Keys with equal hashes are one key here;
// hi and lo must be independent and evenly spread.
//
// A sighting that returned is reported to every later call for as long as
// bloom.Ring states: (G-1)T less the clearing time, at most G T. Every call
// renews it. Of two simultaneous first sightings both may be told false, never
// both true. A key that the master already holds costs loads only, so a popular
// one dirties no cache line.
func (f *Filter) Seen(hi, lo uint64) bool {
	held := f.ring.Held()
	master := held[0]
	if master.Add(hi, lo) {
		return true
	}
	f.ring.Recorded(master)
	return anyHas(held[1:], hi, lo)
}

// Has reports what Seen would, and records nothing.
func (f *Filter) Has(hi, lo uint64) bool {
	return anyHas(f.ring.Held(), hi, lo)
}

func anyHas(held []*bloom.Filter, hi, lo uint64) bool {
	for _, g := range held {
		if g.Has(hi, lo) {
			return true
		}
	}
	return false
}

// Rotate forgets the oldest generation and begins a new one as of now. It runs
// for about a millisecond per million keys of capacity, off the request path;
// it returns false, having done nothing, while another Rotate is under way.
func (f *Filter) Rotate(now time.Time, cause bloom.Cause) bool { return f.ring.Rotate(now, cause) }

// Full reports whether the newest generation holds its capacity, so that the
// false positive rate grows beyond the configured one until it is rotated.
func (f *Filter) Full() bool { return f.ring.Full() }

// FullC receives when the filter may have become full; ask Full then.
func (f *Filter) FullC() <-chan struct{} { return f.ring.FullC() }

// Stats returns the filter's state as of now, without a scan.
func (f *Filter) Stats(now time.Time) bloom.Stats { return f.ring.Stats(now) }

// Bytes returns the memory of all generations.
func (f *Filter) Bytes() int64 { return f.ring.Bytes() }
