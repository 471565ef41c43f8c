package bloom

import "math"

// PartitionedRate returns the expected share of unseen keys that k rows of m
// cells each, above 0, report after n distinct keys were added:
//
//	(1 - e^(-n/m))^k
//
// (Mullin 1983). It equals the FalsePositiveRate of one array of k m cells, so
// CellsFor, KeysFor and Capacity hold for rows too, m being that of all.
func PartitionedRate(m uint64, k int, n uint64) float64 {
	return RateFromFill(-math.Expm1(-float64(n)/float64(m)), k)
}

// PartitionedSize returns the smallest number of cells m of one row, and the
// number of rows k that goes with it, for which n keys give a PartitionedRate of
// at most p:
//
//	m = -n / ln(1 - p^(1/k))
//
// rounded up, with the k of Size. Where there is no such filter both are 0.
func PartitionedSize(n uint64, p float64) (m uint64, k int) {
	all, k := Size(n, p)
	if k == 0 {
		return 0, 0
	}
	return (all + uint64(k) - 1) / uint64(k), k
}
