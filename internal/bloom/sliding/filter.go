package sliding

import (
	"fmt"
	"math/bits"
	"time"

	"edgeproxy/internal/bloom"
)

// Filter remembers sightings for a window. All methods are safe for concurrent
// use; Seen and Has take no lock, do not allocate and never wait for a rotation
// or a save.
//
// It is a blocked Bloom filter (Putze, Sanders and Singler, "Cache-, hash- and
// space-efficient Bloom filters", WEA 2007) of split blocks as in Impala and
// Parquet: a key has one bit in each of the 8 lanes of 32 bits of its block. Two
// generations lie side by side, the same block of both in one cache line of 64
// bytes, so a sighting touches one line; three or four have an array each, and a
// sighting touches as many lines. bloom.BlockRate gives the false positives.
type Filter struct {
	blocks uint64 // of each generation, above 0
	lines  []line // of a pair; nil where there are more than two generations
	pair   [2]*generation
	ring   *bloom.Ring[*generation]

	options bloom.Options
}

// New returns an empty filter whose first generation begins now. The error
// names every option that cannot work (*bloom.OptionError).
func New(o bloom.Options, now time.Time) (*Filter, error) {
	if err := validate(o, bloom.SplitBlock); err != nil {
		return nil, err
	}
	return newFilter(o, generations(o), begin(o, now)), nil
}

func validate(o bloom.Options, l bloom.Layout) error {
	if err := o.Validate(l); err != nil {
		return fmt.Errorf("size a sliding filter: %w", err)
	}
	return nil
}

// begin returns the starts of generations that all begin now.
func begin(o bloom.Options, now time.Time) []time.Time {
	starts := make([]time.Time, o.Generations)
	for i := range starts {
		starts[i] = now
	}
	return starts
}

// newFilter puts generations, newest first, into a filter.
func newFilter(o bloom.Options, held []*generation, starts []time.Time) *Filter {
	f := &Filter{
		options: o,
		blocks:  uint64(held[0].blocks()),
		ring:    bloom.NewRing(held, starts, o.Capacity, (*generation).rate),
	}
	if len(held) == 2 {
		f.lines, f.pair = held[0].lines, [2]*generation(held)
	}
	return f
}

// Seen records a sighting of the key with the 128-bit hash (hi, lo) and reports
// whether the window already held one. Keys with equal hashes are one key here;
// hi and lo must be independent and evenly spread. hi chooses the block and bits
// 0 to 39 of lo the bits in it; bits 40 to 63 of lo are not looked at.
//
// A sighting that returned is reported to every later call for as long as
// bloom.Ring states: (G-1)T less the clearing time, at most G T. Every call
// renews it. Of simultaneous first sightings all may be told false; one is told
// true only where another has already set every bit. A key that the master
// already holds costs loads only, so a popular one dirties no cache line.
func (f *Filter) Seen(hi, lo uint64) bool {
	at, _ := bits.Mul64(hi, f.blocks)
	p := probeOf(lo)
	if f.lines == nil {
		return f.seenApart(at, hi, p)
	}
	oldest, newest := f.ring.Serials()
	side, both := newest&1, &f.lines[at]
	master := &both[side]
	missing := p.missing(master)
	if missing.none() {
		return true
	}
	older := oldest != newest && p.missing(&both[side^1]).none()
	missing.set(master)
	if g := f.pair[side]; g.keys.Add(hi) {
		f.ring.Recorded(g)
	}
	return older
}

// seenApart is Seen where every generation has an array of its own.
func (f *Filter) seenApart(at, hi uint64, p probe) bool {
	held := f.ring.Held()
	master := held[0]
	missing := p.missing(&master.apart[at])
	if missing.none() {
		return true
	}
	older := anyHas(held[1:], at, p)
	missing.set(&master.apart[at])
	if master.keys.Add(hi) {
		f.ring.Recorded(master)
	}
	return older
}

// Has reports what Seen would, and records nothing.
func (f *Filter) Has(hi, lo uint64) bool {
	at, _ := bits.Mul64(hi, f.blocks)
	p := probeOf(lo)
	if f.lines == nil {
		return anyHas(f.ring.Held(), at, p)
	}
	oldest, newest := f.ring.Serials()
	side, both := newest&1, &f.lines[at]
	return p.missing(&both[side]).none() || oldest != newest && p.missing(&both[side^1]).none()
}

// anyHas asks every generation by itself.
func anyHas(held []*generation, at uint64, p probe) bool {
	for _, g := range held {
		if p.missing(&g.apart[at]).none() {
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
