package counting

import (
	"math/bits"

	"edgeproxy/internal/bloom"
)

// generation is one generation of a Filter. Each has an array of its own: lying
// side by side they are no faster, for a sighting reads a whole line of each in
// any case and the processor fetches them together.
//
// Its methods are safe for concurrent use but for WriteWords and SetKeys.
type generation struct {
	lines    []line
	capacity int64        // keys it was made for
	keys     *bloom.Tally // tally of keys that were not counted before
}

// generations returns empty ones of these capacities, for a filter with the options.
func generations(o bloom.Options, capacities []int64) []*generation {
	all := make([]*generation, len(capacities))
	for i, capacity := range capacities {
		o.Capacity = capacity
		lines, _ := o.Size(bloom.CountingLine)
		all[i] = &generation{lines: make([]line, lines), capacity: capacity, keys: bloom.NewTally(capacity)}
	}
	return all
}

// Capacity returns the number of keys it was made for.
func (g *generation) Capacity() int64 { return g.capacity }

// line returns that of a key.
func (g *generation) line(hi uint64) *line {
	at, _ := bits.Mul64(hi, uint64(len(g.lines)))
	return &g.lines[at]
}

// Keys returns the number of distinct keys counted since Clear: every one whose
// count was 0. New keys that were found counted by mistake are not in it.
func (g *generation) Keys() int64 { return g.keys.Sum() }

// Fill returns the share of counters above 0, worked out from the keys. Conservative
// update does not change it: a counter of a new key that is 0 is the smallest.
func (g *generation) Fill() float64 { return bloom.LaneFill(uint64(len(g.lines)), g.offered()) }

// rate returns the share of unseen keys that the generation counts now.
func (g *generation) rate() float64 { return g.rateAt(g.offered()) }

// rateAt returns that share after n distinct keys.
func (g *generation) rateAt(n uint64) float64 { return bloom.LineRate(uint64(len(g.lines)), n) }

// offered returns the number of distinct keys recorded since Clear, those found
// by mistake included. Fill and rate come from it: a scan would read megabytes.
func (g *generation) offered() uint64 { return bloom.Offered(g.Keys(), g.rateAt) }

// Bytes returns the memory of the lines.
func (g *generation) Bytes() int64 { return bloom.CountingLine.Bytes(uint64(len(g.lines))) }

// Clear sets every counter to 0, in slices. It may run beside the rest; an add
// that it overlaps may lose its sighting, or leave it behind.
func (g *generation) Clear() {
	for from, to := range bloom.Slices(len(g.lines), len(line{})) {
		for i := from; i < to; i++ {
			l := &g.lines[i]
			for j := range l {
				if l[j].Load() != 0 {
					l[j].Store(0)
				}
			}
		}
	}
	g.keys.Set(0)
}

// Words returns the number of words.
func (g *generation) Words() int { return len(g.lines) * len(line{}) }

// ReadWords copies words from the given one on into out.
func (g *generation) ReadWords(from int, out []uint64) {
	for i := range out {
		at := from + i
		out[i] = g.lines[at/len(line{})][at%len(line{})].Load()
	}
}

// WriteWords sets the words from the given one on.
func (g *generation) WriteWords(from int, words []uint64) {
	for i, w := range words {
		at := from + i
		g.lines[at/len(line{})][at%len(line{})].Store(w)
	}
}

// SetKeys sets what Keys returns.
func (g *generation) SetKeys(n int64) { g.keys.Set(n) }
