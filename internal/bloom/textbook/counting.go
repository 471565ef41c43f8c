package textbook

import (
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
)

// Counting is the production filter of the room counting as the literature has it: a counting Bloom filter for each
// generation, the counters of a key anywhere in it, all of them raised by every
// sighting (plain update), so that sightings can be taken back. It takes a
// quarter less memory for the same rate and a multiple of the time. It is the
// reference that that filter is measured and tested against; all that is said of
// its methods holds here too, but for simultaneous Adds of one key: none is
// lost, but each may be told a count that leaves the others out.
type Counting struct {
	ring *bloom.Ring[*Counters, struct{}]
}

// NewCounting returns an empty filter whose first generation begins now. The
// error names every option that cannot work (*bloom.OptionError).
func NewCounting(o bloom.Options, now time.Time) (*Counting, error) {
	if err := o.Validate(bloom.TextbookCounters); err != nil {
		return nil, fmt.Errorf("size a counting filter: %w", err)
	}
	m, k := o.Size(bloom.TextbookCounters)
	held := make([]*Counters, o.Generations)
	for i := range held {
		held[i] = NewCounters(m, k, Plain)
	}
	rate := func(g *Counters) float64 { return bloom.RateFromFill(g.Fill(), k) }
	return &Counting{bloom.NewRing(held, o.Starts(now), o.Capacity, bloom.Form[*Counters, struct{}]{Rate: rate})}, nil
}

// Add counts one sighting of the key and returns the estimate with it.
func (f *Counting) Add(hi, lo uint64) int {
	held := f.ring.Held()
	master := held[0]
	count, fresh := master.Add(hi, lo)
	if fresh {
		f.ring.Recorded(master)
	}
	return count + f.sum(held[1:], hi, lo)
}

// Estimate returns how often the key was sighted within the window.
func (f *Counting) Estimate(hi, lo uint64) int { return f.sum(f.ring.Held(), hi, lo) }

func (*Counting) sum(held []*Counters, hi, lo uint64) int {
	total := 0
	for _, g := range held {
		total += g.Estimate(hi, lo)
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
func (f *Counting) Remove(hi, lo uint64) bool {
	for _, g := range f.ring.Held() {
		if was, err := g.Remove(hi, lo); was && err == nil {
			return true
		}
	}
	return false
}

// Rotate forgets the oldest generation and begins a new one as of now.
func (f *Counting) Rotate(now time.Time, cause bloom.Cause) bool { return f.ring.Rotate(now, cause) }

// Full reports whether the newest generation holds its capacity.
func (f *Counting) Full() bool { return f.ring.Full() }

// FullC receives at the key that fills the newest generation up.
func (f *Counting) FullC() <-chan struct{} { return f.ring.FullC() }

// Held returns the serial numbers of the oldest and the newest generation.
func (f *Counting) Held() (oldest, newest uint64) { return f.ring.Serials() }

// Start returns when the newest generation began.
func (f *Counting) Start() time.Time { return f.ring.Start() }

// Stats returns the filter's state as of now.
func (f *Counting) Stats(now time.Time) bloom.Stats { return f.ring.Stats(now) }

// Bytes returns the memory of all generations.
func (f *Counting) Bytes() int64 { return f.ring.Bytes() }
