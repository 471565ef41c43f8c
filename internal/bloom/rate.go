package bloom

import "math"

// FalsePositiveRate returns the expected share of unseen keys that a filter of
// m cells and k probes reports after n distinct keys were added:
//
//	(1 - e^(-kn/m))^k
//
// (Bloom 1970, with the usual limit of (1-1/m)^(kn), see textbook.ExactRate; double
// hashing keeps it: Kirsch and Mitzenmacher, ESA 2006.) The result lies in
// [0, 1]; m and k must be above 0.
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
// measures", J. Chem. Inf. Model. 47(3), 2007). m counts all cells, k rows of
// m/k included. A fill of 1 gives +Inf: a filter that is all ones has lost
// count.
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
