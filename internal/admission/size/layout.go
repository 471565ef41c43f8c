package size

import (
	"sort"
	"strings"

	"edgeproxy/internal/bloom"
)

// Layout is a way to lay out a filter's bits, as arithmetic: a filter is a
// number of units and of hashes.
type Layout struct {
	Name   string
	About  string
	Hashes int // the fixed number; 0 is free

	// Bits are those of a filter.
	Bits func(units uint64, hashes int) uint64

	// Rate is that of a filter with n distinct keys.
	Rate func(units uint64, hashes int, n uint64) float64

	// Fit is the smallest filter of n keys with a rate of at most p. hashes is 0
	// where the best number is wanted; 0 units is no filter.
	Fit func(n uint64, hashes int, p float64) (units uint64, k int)

	// Cut is the best filter for n keys within so many bits.
	Cut func(bits, n uint64, hashes int) (units uint64, k int)

	// Hold is the filter within so many bits that holds most keys at a rate of
	// at most p, and their number.
	Hold func(bits uint64, hashes int, p float64) (units uint64, k int, n uint64)
}

// Layouts are all there are, the textbook's first.
func Layouts() []Layout {
	return []Layout{
		textbookLayout(),
		partitionedLayout(),
		blockedLayout("split-block", "8 words of 32 bits in a block, one bit in each; the proxy's second-hit filter",
			8, 256, bloom.BlockSize, bloom.BlockRate),
		blockedLayout("counting-line", "4 quarters of 32 counters of 4 bits in a cache line; the proxy's counting filter",
			4, 512, bloom.LineSize, bloom.LineRate),
	}
}

// LayoutNames lists their names.
func LayoutNames() string {
	var names []string
	for _, l := range Layouts() {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

// textbookLayout is k bits anywhere in an array of m; the unit is a bit.
func textbookLayout() Layout {
	return Layout{
		Name: "textbook", About: "k bits anywhere in an array of m",
		Bits: func(m uint64, _ int) uint64 { return m },
		Rate: bloom.FalsePositiveRate,
		Fit: func(n uint64, hashes int, p float64) (uint64, int) {
			if hashes == 0 {
				return bloom.Size(n, p)
			}
			return bloom.CellsFor(n, hashes, p), hashes
		},
		Cut: func(bits, n uint64, hashes int) (uint64, int) { return bits, hashesFor(bits, n, hashes) },
		Hold: func(bits uint64, hashes int, p float64) (uint64, int, uint64) {
			if hashes == 0 {
				n, k := bloom.Capacity(bits, p)
				return bits, k, n
			}
			return bits, hashes, bloom.KeysFor(bits, hashes, p)
		},
	}
}

// partitionedLayout is one bit in each of k rows; the unit is a bit of every
// row.
func partitionedLayout() Layout {
	textbook := textbookLayout()
	rows := func(bits uint64, k int) uint64 {
		if k == 0 {
			return 0
		}
		return bits / uint64(k)
	}
	return Layout{
		Name: "partitioned", About: "one bit in each of k rows of m/k",
		Bits: func(row uint64, k int) uint64 { return row * uint64(k) },
		Rate: bloom.PartitionedRate,
		Fit: func(n uint64, hashes int, p float64) (uint64, int) {
			if hashes == 0 {
				return bloom.PartitionedSize(n, p)
			}
			return rows(bloom.CellsFor(n, hashes, p)+uint64(hashes)-1, hashes), hashes
		},
		Cut: func(bits, n uint64, hashes int) (uint64, int) {
			k := hashesFor(bits, n, hashes)
			return rows(bits, k), k
		},
		Hold: func(bits uint64, hashes int, p float64) (uint64, int, uint64) {
			_, k, _ := textbook.Hold(bits, hashes, p)
			row := rows(bits, k)
			return row, k, bloom.KeysFor(row*uint64(k), k, p)
		},
	}
}

// hashesFor is the number of hashes that n keys in so many bits are to have.
func hashesFor(bits, n uint64, hashes int) int {
	if hashes == 0 {
		return bloom.BestProbes(float64(bits) / float64(n))
	}
	return hashes
}

// blockedLayout has all of a key's bits in one block, the unit.
func blockedLayout(
	name, about string, hashes int, unitBits uint64,
	size func(n uint64, p float64) uint64, rate func(units, n uint64) float64,
) Layout {
	return Layout{
		Name: name, About: about, Hashes: hashes,
		Bits: func(units uint64, _ int) uint64 { return units * unitBits },
		Rate: func(units uint64, _ int, n uint64) float64 { return rate(units, n) },
		Fit:  func(n uint64, _ int, p float64) (uint64, int) { return size(n, p), hashes },
		Cut:  func(bits, _ uint64, _ int) (uint64, int) { return bits / unitBits, hashes },
		Hold: func(bits uint64, _ int, p float64) (uint64, int, uint64) {
			units := bits / unitBits
			if units == 0 {
				return 0, hashes, 0
			}
			// With 1,024 keys a block its lanes of 32 cells are full, but for e^-32.
			most := sort.Search(int(units*1024), func(n int) bool { return rate(units, uint64(n)+1) > p })
			return units, hashes, uint64(most)
		},
	}
}
