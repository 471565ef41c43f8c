package counting

import (
	"fmt"
	"slices"
	"time"

	"edgeproxy/internal/bloom"
)

// Max is the largest count one generation can hold for a key. A counter that
// has reached it has lost count and stays there until its generation is cleared.
const Max = 15

// Filter counts sightings within a window. All methods are safe for concurrent
// use; Add and Estimate take no lock, do not allocate and never wait for a
// rotation or a save. A key is the 128-bit hash (hi, lo), whose halves must be
// independent and evenly spread; keys with equal hashes are one key. hi chooses
// the line and bits 0 to 19 of lo the counters in it; bits 20 to 63 of lo are
// not looked at.
//
// Each generation keeps a key's four counters of 4 bits in one cache line, under
// conservative update. That is why nothing can be taken back: a sighting raises
// only the smallest of its counters, and taking one from all of them would take
// from those that other keys rely on. textbook.Counting has Remove.
// bloom.LineRate gives the share of unseen keys that are counted at all.
type Filter struct {
	ring    *bloom.Ring[*generation, struct{}]
	options bloom.Options
}

// New returns an empty filter whose first generation begins now. The error
// names every option that cannot work (*bloom.OptionError).
func New(o bloom.Options, now time.Time) (*Filter, error) {
	if err := validate(o, bloom.CountingLine); err != nil {
		return nil, err
	}
	return newFilter(o, generations(o, slices.Repeat([]int64{o.Capacity}, o.Generations)), o.Starts(now)), nil
}

func validate(o bloom.Options, l bloom.Layout) error {
	if err := o.Validate(l); err != nil {
		return fmt.Errorf("size a counting filter: %w", err)
	}
	return nil
}

// newFilter puts generations, newest first, into a filter.
func newFilter(o bloom.Options, held []*generation, starts []time.Time) *Filter {
	f := &Filter{options: o}
	f.ring = bloom.NewRing(held, starts, o.Capacity, bloom.Form[*generation, struct{}]{
		Rate: (*generation).rate, Room: (*generation).Capacity, Next: f.next,
	})
	return f
}

// next returns the generation that follows newest: oldest, if it has the size.
func (f *Filter) next(oldest, newest *generation) *generation {
	o := f.options.Next(bloom.CountingLine, newest.capacity, f.ring.Limit())
	if o.Capacity != oldest.capacity {
		return generations(f.options, []int64{o.Capacity})[0]
	}
	oldest.Clear()
	return oldest
}

// Add counts one sighting of the key and returns the estimate with it, at least
// 1: the sum of what each generation counted, Max of each at most. It is
// remembered for as long as bloom.Ring states: (G-1)T less the clearing time,
// at most G T.
//
// No simultaneous Add is lost, of one key or of several. Each Add of one key is
// told a count of its own, so of any number exactly one is the n-th, until the
// generation is at Max. Where different keys share a counter just then, one may
// be counted twice.
func (f *Filter) Add(hi, lo uint64) int {
	held := f.ring.Held()
	master := held[0]
	// The older ones are read first: a write waits for the reads before it, and
	// would hold up those after it.
	older := sum(held[1:], hi, lo)
	count := master.line(hi).add(lo)
	if count == 1 && master.keys.Add(hi) {
		f.ring.Recorded(master)
	}
	return count + older
}

// Estimate returns how often the key was sighted within the window: never too
// low, but for what a generation cannot count beyond Max; too high where the
// key shares all its counters with others.
func (f *Filter) Estimate(hi, lo uint64) int {
	return sum(f.ring.Held(), hi, lo)
}

// sum adds up what each of the generations counted.
func sum(held []*generation, hi, lo uint64) int {
	total := 0
	for _, g := range held {
		total += g.line(hi).estimate(lo)
	}
	return total
}

// Rotate forgets the oldest generation and begins a new one as of now. It runs
// for some milliseconds per million keys of capacity, off the request path; it
// returns false, having done nothing, while another Rotate is under way.
func (f *Filter) Rotate(now time.Time, cause bloom.Cause) bool { return f.ring.Rotate(now, cause) }

// Limit returns the number of keys at which the newest generation is full: at first
// the capacity of the options.
func (f *Filter) Limit() int64 { return f.ring.Limit() }

// SetLimit sets it, to 1 or more. The newest generation keeps its size, and is full
// before where it was made for less; those that follow are made for the limit as it is
// when they begin, with up to twice its room. The options must be Resizable.
func (f *Filter) SetLimit(keys int64) { f.ring.SetLimit(keys) }

// Keys returns how many distinct keys the newest generation holds, as far as the filter
// can tell: a false positive in it is no key. It reads a word for each of up to 64 stripes.
func (f *Filter) Keys() int64 { return f.ring.Held()[0].Keys() }

// Full reports whether the newest generation holds as many keys as the limit, or as
// it has room for, so that the false positive rate grows beyond the configured one
// until it is rotated.
func (f *Filter) Full() bool { return f.ring.Full() }

// FullC receives when the filter may have become full; ask Full then. It
// receives at the very key that fills it where the capacity is below 32768, a few
// keys late above (bloom.Tally).
func (f *Filter) FullC() <-chan struct{} { return f.ring.FullC() }

// Held returns the serial numbers of the oldest and the newest generation now
// published. The first are 1 to G, each rotation's new one is one more; while
// one is cleared oldest is already the next.
func (f *Filter) Held() (oldest, newest uint64) { return f.ring.Serials() }

// Start returns when the newest generation began.
func (f *Filter) Start() time.Time { return f.ring.Start() }

// Stats returns the filter's state as of now, without a scan.
func (f *Filter) Stats(now time.Time) bloom.Stats { return f.ring.Stats(now) }

// Bytes returns the memory of all generations.
func (f *Filter) Bytes() int64 { return f.ring.Bytes() }
