package sliding

import (
	"fmt"
	"math/bits"
	"slices"
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
// generations of one size lie side by side, the same block of both in one cache line
// of 64 bytes, so a sighting touches one line; three or four have an array each, as
// have two of different sizes, and a sighting touches as many lines. bloom.BlockRate
// gives the false positives.
type Filter struct {
	ring    *bloom.Ring[*generation, view]
	options bloom.Options
}

// view is what a sighting needs of the window where its generations lie side by
// side. Else lines is nil.
type view struct {
	blocks uint64 // blocks in each generation, above 0
	lines  []line
	master *generation
	side   uint8 // the half of each line that is the master's
	pair   bool  // the other half is the older generation; false while one is cleared
}

// New returns an empty filter whose first generation begins now. The error
// names every option that cannot work (*bloom.OptionError).
func New(o bloom.Options, now time.Time) (*Filter, error) {
	if err := validate(o, bloom.SplitBlock); err != nil {
		return nil, err
	}
	return newFilter(o, generations(o, slices.Repeat([]int64{o.Capacity}, o.Generations)), o.Starts(now)), nil
}

func validate(o bloom.Options, l bloom.Layout) error {
	if err := o.Validate(l); err != nil {
		return fmt.Errorf("size a sliding filter: %w", err)
	}
	return nil
}

// newFilter puts generations, newest first, into a filter.
func newFilter(o bloom.Options, held []*generation, starts []time.Time) *Filter {
	f := &Filter{options: o}
	f.ring = bloom.NewRing(held, starts, o.Capacity, bloom.Form[*generation, view]{
		Rate: (*generation).rate, Room: (*generation).Capacity, Next: f.next, View: viewOf, Bytes: bytesOf,
	})
	return f
}

// next returns the generation that follows newest. It lies beside it if they are
// of one size.
func (f *Filter) next(oldest, newest *generation) *generation {
	o := f.options.Next(bloom.SplitBlock, newest.capacity, f.ring.Limit())
	switch {
	case o.Capacity != newest.capacity:
		return generations(f.options, []int64{o.Capacity})[0]
	case newest.lines != nil && !newest.beside(oldest):
		return newest.other() // nothing was ever written to it
	case newest.lines == nil && oldest.capacity != newest.capacity:
		return generations(f.options, []int64{o.Capacity})[0]
	}
	oldest.Clear()
	return oldest
}

func viewOf(held []*generation) view {
	g := held[0]
	if g.lines == nil || len(held) > 1 && !g.beside(held[1]) {
		return view{}
	}
	return view{blocks: uint64(g.blocks()), lines: g.lines, master: g, side: uint8(g.side), pair: len(held) > 1}
}

// bytesOf counts lines whole, also where only one side is in use.
func bytesOf(held []*generation) (n int64) {
	for i, g := range held {
		switch {
		case g.lines == nil:
			n += g.Bytes()
		case i == 0 || !g.beside(held[i-1]):
			n += 2 * g.Bytes()
		}
	}
	return n
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
	v := f.ring.View()
	if v.lines == nil {
		return f.seenApart(hi, lo)
	}
	at, _ := bits.Mul64(hi, v.blocks)
	p := probeOf(lo)
	both := &v.lines[at]
	master := &both[v.side&1]
	missing := p.missing(master)
	if missing.none() {
		return true
	}
	older := v.pair && p.missing(&both[v.side&1^1]).none()
	missing.set(master)
	if v.master.keys.Add(hi) {
		f.ring.Recorded(v.master)
	}
	return older
}

// seenApart is Seen where every generation has lines of its own.
func (f *Filter) seenApart(hi, lo uint64) bool {
	p := probeOf(lo)
	held := f.ring.Held()
	master := held[0]
	b := master.blockOf(hi)
	missing := p.missing(b)
	if missing.none() {
		return true
	}
	older := anyHas(held[1:], hi, p)
	missing.set(b)
	if master.keys.Add(hi) {
		f.ring.Recorded(master)
	}
	return older
}

// Has reports what Seen would, and records nothing.
func (f *Filter) Has(hi, lo uint64) bool {
	v := f.ring.View()
	p := probeOf(lo)
	if v.lines == nil {
		return anyHas(f.ring.Held(), hi, p)
	}
	at, _ := bits.Mul64(hi, v.blocks)
	both := &v.lines[at]
	return p.missing(&both[v.side&1]).none() || v.pair && p.missing(&both[v.side&1^1]).none()
}

// anyHas asks every generation by itself, each by its own number of blocks.
func anyHas(held []*generation, hi uint64, p probe) bool {
	for _, g := range held {
		if p.missing(g.blockOf(hi)).none() {
			return true
		}
	}
	return false
}

// Rotate forgets the oldest generation and begins a new one as of now. It runs
// for about a millisecond per million keys of capacity, off the request path;
// it returns false, having done nothing, while another Rotate is under way.
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
