package admission

import (
	"time"

	"edgeproxy/internal/bloom"
)

// FilterStats has the numbers of one filter and of its sample and regret. All are gauges except Rotations and the
// counters of Measured, which only grow.
type FilterStats struct {
	Name string // SecondHitFilter or CountingFilter
	bloom.Stats

	Measured Measured
	Regret   RegretStats

	// Objects is C, the number of objects that the tier behind the gate holds when it is full, which the window is
	// fitted to; 0 if the window is fixed.
	Objects int64

	// Longest is the longest time that the window covers if rotations are on time: generations times rotate_every; 0 if
	// no time ends a generation.
	Longest time.Duration
}

// Measured has the errors of the filter, as a sample of exactly remembered keys finds them.
type Measured struct {
	// Unseen counts the sampled sightings that were certainly the first of their key within the window. FalsePositives
	// counts those among them that the filter took for further ones (second-hit), or counted as more than one
	// (counting).
	Unseen, FalsePositives int64

	// FalseNegatives counts the sampled sightings that the filter did not know, or counted too low, although as many
	// had certainly been recorded within the window. It must stay 0: a Bloom filter has no false negatives.
	FalseNegatives int64

	// Ratio is the share of FalsePositives in Unseen over the last 16 periods between rotations, the present one
	// included; in [0, 1]. Expected is the mean, over the very same sightings, of the false positive ratio that the
	// filter's fill predicted. With u sightings in the horizon the standard error of Ratio is about sqrt(Expected/u).
	// Both are 0 while there are no such sightings.
	Ratio, Expected float64

	// HorizonUnseen and HorizonFalsePositives are the counts behind Ratio.
	HorizonUnseen, HorizonFalsePositives int64

	// Share is the share of the key space that is sampled, such as 1/256. It is
	// halved when the sample's memory is full, and does not grow again. 0: the
	// sample has given up.
	Share float64

	// Keys is the number of keys the sample remembers now, at most Capacity.
	Keys, Capacity int

	// Bytes is the memory of the sample; it does not change.
	Bytes int64
}

// RegretStats is the state of the filters behind Gate.Filled: the keys whose
// storable responses were held back, and those of them stored afterwards.
type RegretStats struct {
	HeldBack, Stored bloom.Stats
}

// StateStats has the numbers of the file that keeps the sightings.
type StateStats struct {
	Saves, Failures int64     // since start
	Saved           time.Time // begin of the last save that succeeded; zero: none yet
	Bytes           int64     // size of its content
}

// Stats returns the state as of now of each filter there is, in the order of
// Options.
func (g *Gate) Stats(now time.Time) []FilterStats {
	out := make([]FilterStats, len(g.memories))
	for i, m := range g.memories {
		out[i] = m.stats(now)
	}
	return out
}

// StateStats returns the numbers of the saves; all zero without Options.State.
func (g *Gate) StateStats() StateStats {
	if g.keeper == nil {
		return StateStats{}
	}
	return g.keeper.stats()
}

// Bytes returns the memory of all filters, those of regret and the samples included. The memory of Fitted filters
// follows the cache, up to MostBytes.
func (g *Gate) Bytes() int64 {
	var n int64
	for _, m := range g.memories {
		n += m.bytes()
	}
	return n
}

// MostBytes returns the upper bound of Bytes under the present MoreThan, except for the moment in which a generation of
// one size replaces one of another.
func (g *Gate) MostBytes() int64 {
	var n int64
	for _, m := range g.memories {
		if m.fitting != nil {
			n += max(m.fitting.most(m.fitting.lengthNow())+m.sample.bytes(), m.bytes())
			continue
		}
		n += m.bytes()
	}
	return n
}

// Objects returns C, the number of objects that the tier behind the gate holds when it is full, estimated from the
// responses noted by Filled; 1 or more.
func (g *Gate) Objects() int64 { return g.fit.Objects() }
