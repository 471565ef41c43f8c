package counting

import (
	"time"

	"edgeproxy/internal/bloom"
)

// Filter counts sightings within a window. All methods are safe for concurrent
// use; Add, Estimate and Remove take no lock, do not allocate and never wait for
// a rotation. A key is the 128-bit hash (hi, lo), whose halves must be
// independent and evenly spread; keys with equal hashes are one key.
type Filter struct {
	ring *bloom.Ring[*cells]
}

// New returns an empty filter whose first generation begins now. The error
// names every option that cannot work (*bloom.OptionError).
func New(o bloom.Options, now time.Time) (*Filter, error) {
	ring, err := bloom.NewRing(o, now, newCells)
	if err != nil {
		return nil, err
	}
	return &Filter{ring: ring}, nil
}

// Add counts one sighting of the key and returns the estimate with it, at least
// 1: the sum of what each generation counted, Max of each at most. It is
// remembered for as long as bloom.Ring states: (G-1)T less the clearing time,
// at most G T. No simultaneous Add is lost, but each may be told an estimate
// that leaves the others out.
func (f *Filter) Add(hi, lo uint64) int {
	held := f.ring.Held()
	master := held[0]
	count, fresh := master.add(hi, lo)
	if fresh {
		f.ring.Recorded(master)
	}
	return count + sum(held[1:], hi, lo)
}

// Estimate returns how often the key was sighted within the window: never too
// low, but for what a generation cannot count beyond Max; too high where the
// key shares all its counters with others.
func (f *Filter) Estimate(hi, lo uint64) int {
	return sum(f.ring.Held(), hi, lo)
}

func sum(held []*cells, hi, lo uint64) int {
	total := 0
	for _, g := range held {
		total += g.estimate(hi, lo)
	}
	return total
}

// Remove takes one sighting of the key back, the newest that the window holds,
// and reports whether there was one. A counter at Max stays there, for nobody
// knows how far beyond it went, so a key that was sighted so often keeps its
// count until its generation is forgotten.
//
// Only what was added may be removed, and once: taking what belongs to others
// makes their counts too low. A key added before the last rotation may be
// mistaken for one of a newer generation, at that generation's false positive
// rate, with the same effect on counts there.
func (f *Filter) Remove(hi, lo uint64) bool {
	for _, g := range f.ring.Held() {
		if g.remove(hi, lo) {
			return true
		}
	}
	return false
}

// Rotate forgets the oldest generation and begins a new one as of now. It runs
// for some milliseconds per million keys of capacity, off the request path; it
// returns false, having done nothing, while another Rotate is under way.
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
