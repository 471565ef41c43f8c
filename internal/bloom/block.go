package bloom

import "math"

// Shapes of the blocked layouts. A block has lanes of laneCells cells each; a
// key falls into one block and has one cell in every lane of it.
const (
	laneCells  = 32
	blockLanes = 8 // SplitBlock: 8 lanes of 32 bits, half a cache line
	lineLanes  = 4 // CountingLine: 4 lanes of 32 counters of 4 bits, one cache line
)

// BlockRate returns the expected share of unseen keys that a split block filter
// of the given number of blocks (8 lanes of 32 bits each, 256 bits) reports
// after n distinct keys.
//
// The keys of one block are Poisson distributed with mean λ = n/blocks, and a
// block with i keys reports an unseen one when all 8 lanes do:
//
//	f = sum over i of e^-λ λ^i/i! (1 - (1 - 1/32)^i)^8
//
// The Poisson mixture is that of Putze, Sanders and Singler, "Cache-, hash- and
// space-efficient Bloom filters" (WEA 2007), the lanes those of the split block
// filter of Impala and Parquet. A filter that takes its mean fill to the 8th
// power states too little: full blocks err more than empty ones make up for.
//
// blocks must be above 0; the result lies in [0, 1].
func BlockRate(blocks, n uint64) float64 { return blockedRate(blockLanes, blocks, n) }

// BlockSize returns the smallest number of blocks for which n keys give a
// BlockRate of at most p. It is found by bisection: the sum has no inverse in
// closed form. Where n is 0, p is not within (0, 1) or the filter would pass
// MaxCells bits there is no such filter, and the result is 0.
func BlockSize(n uint64, p float64) uint64 { return blockedSize(blockLanes, n, p) }

// LineRate is BlockRate for the counting line: the expected share of unseen keys
// that a counting filter of the given number of lines (4 quarters of 32
// counters, 512 bits) counts at all after n distinct keys,
//
//	f = sum over i of e^-λ λ^i/i! (1 - (1 - 1/32)^i)^4,  λ = n/lines
func LineRate(lines, n uint64) float64 { return blockedRate(lineLanes, lines, n) }

// LineSize is BlockSize for the counting line, bounded by MaxCells counters.
func LineSize(n uint64, p float64) uint64 { return blockedSize(lineLanes, n, p) }

// LaneFill returns the expected share of cells in use, in either blocked layout,
// after n distinct keys in the given number of blocks:
//
//	1 - e^(-n / (32 blocks))
//
// since every key has one of the 32 cells of each lane of its block. It is the
// mean over all blocks, which differ among themselves.
func LaneFill(blocks, n uint64) float64 {
	return -math.Expm1(-float64(n) / float64(blocks) / laneCells)
}

// closedFrom is the mean from which blockedRate uses the closed form. Below it
// the form would lose its digits to cancellation, above it e^-λ underflows in
// the end.
const closedFrom = 256

func blockedRate(lanes int, blocks, n uint64) float64 {
	mean := float64(n) / float64(blocks)
	if mean > closedFrom {
		return closedRate(lanes, mean)
	}
	const miss = 1 - 1.0/laneCells
	weight, empty, rate := math.Exp(-mean), 1.0, 0.0
	for i := 1.0; ; i++ {
		weight *= mean / i
		empty *= miss
		rate += weight * math.Pow(1-empty, float64(lanes))
		// The terms left add up to less than the weights left. Those fall by half or
		// more at each step once i is beyond twice the mean.
		if i > 2*mean && weight <= rate*1e-17 {
			return min(rate, 1)
		}
	}
}

// closedRate is the same sum after the binomial theorem,
//
//	f = sum over j of (-1)^j C(lanes, j) e^(-λ (1 - (1-1/32)^j))
func closedRate(lanes int, mean float64) float64 {
	rate, choose, empty := 0.0, 1.0, 1.0
	for j := range lanes + 1 {
		rate += choose * math.Exp(-mean*(1-empty))
		choose *= -float64(lanes-j) / float64(j+1)
		empty *= 1 - 1.0/laneCells
	}
	return min(max(rate, 0), 1)
}

func blockedSize(lanes int, n uint64, p float64) uint64 {
	if n == 0 || !(p > 0 && p < 1) {
		return 0
	}
	limit := uint64(MaxCells / (lanes * laneCells))
	enough := func(blocks uint64) bool { return blockedRate(lanes, blocks, n) <= p }
	if !enough(limit) {
		return 0
	}
	few, many := uint64(0), limit // enough(many), not enough(few)
	for many-few > 1 {
		if middle := few + (many-few)/2; enough(middle) {
			many = middle
		} else {
			few = middle
		}
	}
	return many
}
