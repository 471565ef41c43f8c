package rfc9111

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// RFC 9110 section 15.3.7.2.
func TestCoalesce(t *testing.T) {
	f := func(ranges, want []Range) {
		t.Helper()
		asked := slices.Clone(ranges)
		if got := Coalesce(ranges); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", asked, got, want)
		}
	}
	f(nil, nil)
	f([]Range{{3, 4}}, []Range{{3, 4}})
	f([]Range{{8, 9}, {0, 1}, {4, 5}}, []Range{{8, 9}, {0, 1}, {4, 5}})
	f([]Range{{0, 4}, {4, 8}}, []Range{{0, 8}})
	f([]Range{{4, 8}, {0, 4}}, []Range{{0, 8}})
	f([]Range{{0, 9}, {3, 4}}, []Range{{0, 9}})
	f([]Range{{3, 4}, {0, 9}}, []Range{{0, 9}})
	f([]Range{{3, 4}, {3, 4}}, []Range{{3, 4}})
	// Ranges that only touch are not joined.
	f([]Range{{0, 3}, {4, 8}}, []Range{{0, 3}, {4, 8}})
	// A joined range takes the place of its first part.
	f([]Range{{20, 29}, {0, 4}, {40, 49}, {25, 35}}, []Range{{20, 35}, {0, 4}, {40, 49}})
	// One range joins two that were apart.
	f([]Range{{90, 99}, {0, 9}, {50, 59}, {20, 29}, {5, 25}}, []Range{{90, 99}, {0, 29}, {50, 59}})
	f([]Range{{0, 9}, {20, 29}, {40, 49}, {0, 99}}, []Range{{0, 99}})
}

// The result covers the same bytes, each once.
func TestCoalesceCoversTheSameBytesOnce(t *testing.T) {
	const size = 64
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		ranges := make([]Range, random.IntN(8))
		var want, got [size]int
		for i := range ranges {
			first := random.Int64N(size)
			ranges[i] = Range{first, first + random.Int64N(size-first)}
			for at := ranges[i].First; at <= ranges[i].Last; at++ {
				want[at] = 1
			}
		}
		asked := slices.Clone(ranges)
		for _, r := range Coalesce(ranges) {
			for at := r.First; at <= r.Last; at++ {
				got[at]++
			}
		}
		if got != want {
			t.Fatalf("%v: got bytes sent %v, want %v", asked, got, want)
		}
	}
}
