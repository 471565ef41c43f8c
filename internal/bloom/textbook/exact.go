package textbook

import (
	"math"

	"edgeproxy/internal/bloom"
)

// ExactRate is FalsePositiveRate without the limit for large m:
//
//	(1 - (1-1/m)^(kn))^k
//
// The two differ by a share of about k/m. The fill in it, ExpectedFill, is the
// true mean; taking its power instead of the mean of powers is Bloom's
// simplification, which leaves the rate too low by a share of the order of k^2/m
// (Bose et al., "On the false-positive rate of Bloom filters", Information
// Processing Letters 108(4), 2008).
func ExactRate(m uint64, k int, n uint64) float64 {
	return bloom.RateFromFill(ExpectedFill(m, k, n), k)
}

// ExpectedFill returns the mean share of cells in use after n distinct keys were
// added with k independent probes each to m cells, above 0:
//
//	1 - (1-1/m)^(kn)
func ExpectedFill(m uint64, k int, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return -math.Expm1(float64(k) * float64(n) * math.Log1p(-1/float64(m)))
}

// ExactPartitionedRate is PartitionedRate without the limit for large m:
//
//	(1 - (1-1/m)^n)^k
//
// Unlike ExactRate it has nothing left out, for the rows are independent. It is
// never below that of one array of k m cells, since 1 - k/M <= (1 - 1/M)^k
// (Broder and Mitzenmacher 2004, section 2).
func ExactPartitionedRate(m uint64, k int, n uint64) float64 {
	return bloom.RateFromFill(ExpectedFill(m, 1, n), k)
}
