package sliding

import (
	"math/bits"

	"edgeproxy/internal/bloom"
)

// generation is one generation of a Filter: one of the two halves of every line,
// or an array of blocks of its own.
//
// Its methods are safe for concurrent use but for WriteWords and SetKeys.
type generation struct {
	lines []line // nil where it has an array of its own
	side  int    // the part of each line that it has, 0 or 1
	apart []block

	capacity int64        // keys it was made for
	keys     *bloom.Tally // tally of keys that were not found when they were set
}

// generations returns empty ones of these capacities, newest first, for a filter with
// the options. If there are to be two, those next to each other of one capacity
// share lines, as may the one that follows.
func generations(o bloom.Options, capacities []int64) []*generation {
	all := make([]*generation, len(capacities))
	for i, capacity := range capacities {
		if o.Generations == 2 && i > 0 && all[i-1].capacity == capacity {
			all[i] = all[i-1].other()
			continue
		}
		o.Capacity = capacity
		blocks, _ := o.Size(bloom.SplitBlock)
		g := &generation{capacity: capacity, keys: bloom.NewTally(capacity)}
		if o.Generations == 2 {
			g.lines = make([]line, blocks)
		} else {
			g.apart = make([]block, blocks)
		}
		all[i] = g
	}
	return all
}

// other returns an empty generation on the other side of the lines of g.
func (g *generation) other() *generation {
	return &generation{lines: g.lines, side: 1 - g.side, capacity: g.capacity, keys: bloom.NewTally(g.capacity)}
}

// beside reports whether g and h have the two sides of the same lines.
func (g *generation) beside(h *generation) bool {
	return g.lines != nil && h.lines != nil && &g.lines[0] == &h.lines[0]
}

// Capacity returns the number of keys it was made for.
func (g *generation) Capacity() int64 { return g.capacity }

// blocks returns how many there are.
func (g *generation) blocks() int { return max(len(g.lines), len(g.apart)) }

func (g *generation) block(i int) *block {
	if g.lines != nil {
		return &g.lines[i][g.side]
	}
	return &g.apart[i]
}

// blockOf returns the block of a key.
func (g *generation) blockOf(hi uint64) *block {
	at, _ := bits.Mul64(hi, uint64(g.blocks()))
	return g.block(int(at))
}

// Keys returns the number of distinct keys recorded since Clear: every one that
// was not found when it was recorded. New keys that were found by mistake are
// not in it; one recorded at the same moment by several callers may count once
// for each.
func (g *generation) Keys() int64 { return g.keys.Sum() }

// Fill returns the share of bits that are set, worked out from the keys.
func (g *generation) Fill() float64 { return bloom.LaneFill(uint64(g.blocks()), g.offered()) }

// rate returns the share of unseen keys that the generation reports now.
func (g *generation) rate() float64 { return g.rateAt(g.offered()) }

// rateAt returns that share after n distinct keys.
func (g *generation) rateAt(n uint64) float64 { return bloom.BlockRate(uint64(g.blocks()), n) }

// offered returns the number of distinct keys recorded since Clear, those found
// by mistake included. Fill and rate come from it: a scan would read megabytes.
func (g *generation) offered() uint64 { return bloom.Offered(g.Keys(), g.rateAt) }

// Bytes returns the memory of the blocks.
func (g *generation) Bytes() int64 { return bloom.SplitBlock.Bytes(uint64(g.blocks())) }

// Clear sets every word to 0, in slices. It may run beside the rest; a call of
// Seen that it overlaps may lose its bits, or leave up to eight and one key
// behind.
func (g *generation) Clear() {
	for from, to := range bloom.Slices(g.blocks(), 2*len(block{})) {
		for i := from; i < to; i++ {
			b := g.block(i)
			for j := range b {
				if b[j].Load() != 0 {
					b[j].Store(0)
				}
			}
		}
	}
	g.keys.Set(0)
}

// Words returns the number of words.
func (g *generation) Words() int { return g.blocks() * len(block{}) }

// ReadWords copies words from the given one on into out.
func (g *generation) ReadWords(from int, out []uint64) {
	for i := range out {
		at := from + i
		out[i] = g.block(at / len(block{}))[at%len(block{})].Load()
	}
}

// WriteWords sets the words from the given one on.
func (g *generation) WriteWords(from int, words []uint64) {
	for i, w := range words {
		at := from + i
		g.block(at / len(block{}))[at%len(block{})].Store(w)
	}
}

// SetKeys sets what Keys returns.
func (g *generation) SetKeys(n int64) { g.keys.Set(n) }
