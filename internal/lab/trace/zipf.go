package trace

import (
	"math"
	"math/rand/v2"
	"sort"
)

// zipf draws ranks 0 to n−1 by inversion over a table of sums. The probability of rank r
// is proportional to 1/(r+1)^exponent. Unlike math/rand's, it takes any exponent from 0
// (uniform) up. It takes 8 bytes a rank and a binary search a draw. It is not safe for
// concurrent use.
type zipf struct {
	sums []float64 // sums[r] = P(rank <= r); the last is 1
	rng  *rand.Rand
}

// newZipf needs n >= 1 and exponent >= 0.
func newZipf(rng *rand.Rand, n int, exponent float64) *zipf {
	sums := make([]float64, n)
	var total float64
	for r := range sums {
		total += math.Pow(float64(r+1), -exponent)
		sums[r] = total
	}
	for r := range sums {
		sums[r] /= total
	}
	sums[n-1] = 1 // whatever the rounding: a draw is below 1
	return &zipf{sums: sums, rng: rng}
}

func (z *zipf) draw() int {
	u := z.rng.Float64()
	return sort.Search(len(z.sums), func(r int) bool { return z.sums[r] > u })
}
