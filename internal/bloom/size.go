package bloom

import "math"

const (
	// MaxProbes is the largest number of probes a key may have. More never pay:
	// 64 probes at half fill are a rate of 2^-64.
	MaxProbes = 64

	// MinCells is the smallest array, so that a probe's step never grows by more
	// than the array is long.
	MinCells = 64

	// MaxCells bounds one generation: 2 GiB of bits, 8 GiB of counters. It turns
	// a slip in a setting into an error instead of an exhausted machine.
	MaxCells = 1 << 34
)

// OptimalProbes returns the number of probes, a real number, that gives the
// lowest rate for an array of so many bits for each key, above 0:
//
//	k = m/n ln 2
//
// Half of the bits are then set (Bloom 1970; Broder and Mitzenmacher, "Network
// applications of Bloom filters: a survey", Internet Mathematics 1(4), 2004,
// section 2). BestProbes gives the whole number.
func OptimalProbes(bitsPerKey float64) float64 { return bitsPerKey * math.Ln2 }

// BestProbes returns the whole number of probes, 1..MaxProbes, that gives the
// lowest (1-e^(-k/c))^k for c bits a key, above 0: one of the two neighbours of
// OptimalProbes.
func BestProbes(bitsPerKey float64) int {
	rate := func(k int) float64 {
		return RateFromFill(-math.Expm1(-float64(k)/bitsPerKey), k)
	}
	below := wholeProbes(math.Floor(OptimalProbes(bitsPerKey)))
	if above := wholeProbes(float64(below + 1)); rate(above) < rate(below) {
		return above
	}
	return below
}

// BestRate returns the rate of a filter of so many bits for each key with the
// real OptimalProbes, which no whole number of them beats:
//
//	p = 2^(-m/n ln 2) = e^(-m/n ln(2)^2) ~ 0.6185^(m/n)
//
// (Bloom 1970; Broder and Mitzenmacher 2004, section 2).
func BestRate(bitsPerKey float64) float64 { return math.Exp(-bitsPerKey * math.Ln2 * math.Ln2) }

// BitsPerKey is BestRate solved for the bits: the least that any Bloom filter
// needs for each key at the rate p, within (0, 1):
//
//	m/n = ln(1/p) / ln(2)^2 ~ 1.4427 log2(1/p)
func BitsPerKey(p float64) float64 { return -math.Log(p) / (math.Ln2 * math.Ln2) }

// Size returns the smallest number of cells m, and the number of probes k that
// goes with it, for which n keys give a false positive rate of at most p.
//
// With k real the best is k = log2(1/p) and m = n ln(1/p) / ln(2)^2 (Bloom
// 1970). A filter needs a whole k, so both neighbours are tried, each with its
// CellsFor. k lies in 1..MaxProbes. Where n is 0, p is not within (0, 1) or m
// would pass 2^62 there is no such filter, and both results are 0.
func Size(n uint64, p float64) (m uint64, k int) {
	return best(p, func(k int) (uint64, bool) {
		cells := CellsFor(n, k, p)
		return cells, cells > 0 && (m == 0 || cells < m)
	}, &m)
}

// Capacity is Size solved for the keys: the largest number n that m cells hold
// at a rate of at most p, and the number of probes k that goes with it. Where p
// is not within (0, 1) or no key fits both results are 0.
func Capacity(m uint64, p float64) (n uint64, k int) {
	return best(p, func(k int) (uint64, bool) {
		keys := KeysFor(m, k, p)
		return keys, keys > n
	}, &n)
}

// best tries the two whole numbers of probes beside the best real one for the
// rate p, log2(1/p). try returns a figure and whether it is better than *out.
func best(p float64, try func(k int) (uint64, bool), out *uint64) (_ uint64, k int) {
	if !(p > 0 && p < 1) {
		return 0, 0
	}
	below := wholeProbes(math.Floor(-math.Log2(p)))
	for _, probes := range [2]int{below, wholeProbes(float64(below + 1))} {
		if v, better := try(probes); better {
			*out, k = v, probes
		}
	}
	return *out, k
}

func wholeProbes(k float64) int { return int(min(max(k, 1), MaxProbes)) }

// CellsFor returns the smallest m for which n keys with k probes, above 0, give
// a FalsePositiveRate(m, k, n) of at most p:
//
//	m = -k n / ln(1 - p^(1/k))
//
// rounded up. Where n is 0, p is not within (0, 1) or m would pass 2^62 it is 0.
func CellsFor(n uint64, k int, p float64) uint64 {
	if n == 0 || k < 1 || !(p > 0 && p < 1) {
		return 0
	}
	cells := math.Ceil(-float64(k) * float64(n) / log1mRoot(p, k))
	if cells > 1<<62 {
		return 0
	}
	return uint64(cells)
}

// KeysFor returns the largest n for which m cells and k probes, above 0, give a
// FalsePositiveRate(m, k, n) of at most p:
//
//	n = -(m/k) ln(1 - p^(1/k))
//
// rounded down. Where p is not within (0, 1) it is 0.
func KeysFor(m uint64, k int, p float64) uint64 {
	if k < 1 || !(p > 0 && p < 1) {
		return 0
	}
	return uint64(-float64(m) / float64(k) * log1mRoot(p, k))
}

// log1mRoot is ln(1 - p^(1/k)): the logarithm of the share of cells left at 0
// where the rate is p.
func log1mRoot(p float64, k int) float64 { return math.Log1p(-math.Pow(p, 1/float64(k))) }

// reserve is the share of a rate that DesignRate keeps back.
const reserve = 0.04

// DesignRate returns the rate to size a filter for that shall not pass p when it
// is measured: p less 4 %.
//
// The formulas give the mean over all hash functions, so one filter sized for
// exactly p lies above it in half of the cases. The number of bits set has a
// deviation of about 0.28 sqrt(m) at half fill (the classical occupancy problem),
// which moves the rate by 0.9 % at 20,000 keys and 7 probes, and a million
// queries at 1 % have a deviation of 1 % of their own. The reserve is three
// deviations of both, and costs 0.09 bits a key.
func DesignRate(p float64) float64 { return p * (1 - reserve) }
