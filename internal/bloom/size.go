package bloom

import "math"

const (
	// MaxProbes is the largest number of probes a key may have. More never pay:
	// 64 probes at half fill are a rate of 2^-64.
	MaxProbes = 64

	// MinCells is the smallest array, so that a probe's step is always shorter
	// than the array.
	MinCells = 64

	// MaxCells bounds one generation: 2 GiB of bits, 8 GiB of counters. It turns
	// a slip in a setting into an error instead of an exhausted machine.
	MaxCells = 1 << 34
)

// Size returns the smallest number of cells m, and the number of probes k that
// goes with it, for which n keys give a false positive rate of at most p.
//
// With k real the best is k = log2(1/p) and m = n ln(1/p) / ln(2)^2 (Bloom,
// "Space/time trade-offs in hash coding with allowable errors", CACM 13(7),
// 1970). A filter needs a whole k, so both neighbours are tried, each with the
// m that solves FalsePositiveRate(m, k, n) = p, which is
//
//	m = -k n / ln(1 - p^(1/k))
//
// rounded up. k lies in 1..MaxProbes. Where n is 0, p is not within (0, 1) or m
// would pass 2^62 there is no such filter, and both results are 0.
func Size(n uint64, p float64) (m uint64, k int) {
	if n == 0 || !(p > 0 && p < 1) {
		return 0, 0
	}
	ideal := -math.Log2(p)
	for _, try := range [2]float64{math.Floor(ideal), math.Ceil(ideal)} {
		try = min(max(try, 1), MaxProbes)
		cells := math.Ceil(-try * float64(n) / math.Log1p(-math.Pow(p, 1/try)))
		if cells > 1<<62 {
			continue
		}
		if c := uint64(cells); m == 0 || c < m {
			m, k = c, int(try)
		}
	}
	return m, k
}

// FalsePositiveRate returns the expected share of unseen keys that a filter of
// m cells and k probes reports after n distinct keys were added:
//
//	(1 - e^(-kn/m))^k
//
// (Bloom 1970, with the usual limit of (1-1/m)^(kn); double hashing keeps it:
// Kirsch and Mitzenmacher, "Less hashing, same performance", ESA 2006.) The
// result lies in [0, 1]; m and k must be above 0.
func FalsePositiveRate(m uint64, k int, n uint64) float64 {
	fill := -math.Expm1(-float64(k) * float64(n) / float64(m))
	return RateFromFill(fill, k)
}

// RateFromFill returns the share of unseen keys that a filter reports when
// fill, in [0, 1], of its cells are in use: fill^k, since an unseen key's k
// probes fall anywhere (Bloom 1970). It is what a filter does now, where
// FalsePositiveRate is what one expects of it.
func RateFromFill(fill float64, k int) float64 {
	return math.Pow(fill, float64(k))
}

// KeysFromFill estimates how many distinct keys were added to a filter of m
// cells and k probes of which the share fill is in use:
//
//	n = -(m/k) ln(1 - fill)
//
// (Swamidass and Baldi, "Mathematical correction for fingerprint similarity
// measures", J. Chem. Inf. Model. 47(3), 2007). A fill of 1 gives +Inf: a
// filter that is all ones has lost count.
func KeysFromFill(fill float64, m uint64, k int) float64 {
	return -float64(m) / float64(k) * math.Log1p(-fill)
}

// WindowRate returns the rate at which at least one of several generations,
// each asked by itself, reports an unseen key: 1 - prod(1 - f), the generations
// being filled by different keys and so independent.
func WindowRate(generation ...float64) float64 {
	none := 0.0
	for _, f := range generation {
		none += math.Log1p(-f)
	}
	return -math.Expm1(none)
}

// GenerationRate returns the rate each of g equal generations may have so that
// the whole window has the given rate. It is WindowRate solved for f:
//
//	f = 1 - (1 - window)^(1/g)
//
// window lies in [0, 1), g is above 0.
func GenerationRate(window float64, g int) float64 {
	return -math.Expm1(math.Log1p(-window) / float64(g))
}
