package counting

import "edgeproxy/internal/bloom"

// generation is one generation of a Filter: every stride-th line of an array
// that all generations share, so that those which count the same keys are
// neighbours.
//
// Its methods are safe for concurrent use but for WriteWords and SetKeys.
type generation struct {
	all    []line // of every generation
	slot   int    // of this one, below stride
	stride int    // the number of generations

	keys *bloom.Tally // of keys that were not counted before
}

// generations returns those of a filter.
func generations(o bloom.Options) []*generation {
	lines, _ := o.Size(bloom.CountingLine)
	memory := make([]line, lines*uint64(o.Generations))
	out := make([]*generation, o.Generations)
	for i := range out {
		out[i] = &generation{all: memory, slot: i, stride: o.Generations, keys: bloom.NewTally(o.Capacity)}
	}
	return out
}

// lines returns how many there are.
func (g *generation) lines() int { return len(g.all) / g.stride }

func (g *generation) line(i int) *line { return &g.all[i*g.stride+g.slot] }

// Keys returns the number of distinct keys counted since Clear: every one whose
// count was 0. New keys that were found counted by mistake are not in it.
func (g *generation) Keys() int64 { return g.keys.Sum() }

// Fill returns the share of counters above 0, worked out from the keys. Conservative
// update does not change it: a counter of a new key that is 0 is the smallest.
func (g *generation) Fill() float64 { return bloom.LaneFill(uint64(g.lines()), g.offered()) }

// rate returns the share of unseen keys that the generation counts now.
func (g *generation) rate() float64 { return g.rateAt(g.offered()) }

// rateAt returns that share after n distinct keys.
func (g *generation) rateAt(n uint64) float64 { return bloom.LineRate(uint64(g.lines()), n) }

// offered returns the number of distinct keys recorded since Clear, those found
// by mistake included. Fill and rate come from it: a scan would read megabytes.
func (g *generation) offered() uint64 { return bloom.Offered(g.Keys(), g.rateAt) }

// Bytes returns the memory of the lines.
func (g *generation) Bytes() int64 { return bloom.CountingLine.Bytes(uint64(g.lines())) }

// Clear sets every counter to 0, in slices. It may run beside the rest; an add
// that it overlaps may lose its sighting, or leave it behind.
func (g *generation) Clear() {
	for from, to := range bloom.Slices(g.lines(), g.stride*len(line{})) {
		for i := from; i < to; i++ {
			l := g.line(i)
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
func (g *generation) Words() int { return g.lines() * len(line{}) }

// ReadWords copies words from the given one on into out.
func (g *generation) ReadWords(from int, out []uint64) {
	for i := range out {
		at := from + i
		out[i] = g.line(at / len(line{}))[at%len(line{})].Load()
	}
}

// WriteWords sets the words from the given one on.
func (g *generation) WriteWords(from int, words []uint64) {
	for i, w := range words {
		at := from + i
		g.line(at / len(line{}))[at%len(line{})].Store(w)
	}
}

// SetKeys sets what Keys returns.
func (g *generation) SetKeys(n int64) { g.keys.Set(n) }
