package main

import (
	"sort"
	"strings"

	"edgeproxy/internal/bloom"
)

// sizeLayout is a way to lay out a filter's bits, as arithmetic: a filter is a
// number of units and of hashes.
type sizeLayout struct {
	name   string
	about  string
	hashes int // the fixed number; 0 is free

	// bits are those of a filter.
	bits func(units uint64, hashes int) uint64

	// rate is that of a filter with n distinct keys.
	rate func(units uint64, hashes int, n uint64) float64

	// fit is the smallest filter of n keys with a rate of at most p. hashes is 0
	// where the best number is wanted; 0 units is no filter.
	fit func(n uint64, hashes int, p float64) (units uint64, k int)

	// cut is the best filter for n keys within so many bits.
	cut func(bits, n uint64, hashes int) (units uint64, k int)

	// hold is the filter within so many bits that holds most keys at a rate of
	// at most p, and their number.
	hold func(bits uint64, hashes int, p float64) (units uint64, k int, n uint64)
}

// sizeLayouts are all there are, the textbook's first.
func sizeLayouts() []sizeLayout {
	return []sizeLayout{
		textbookLayout(),
		partitionedLayout(),
		blockedLayout("split-block", "8 words of 32 bits in a block, one bit in each; the proxy's second-hit filter",
			8, 256, bloom.BlockSize, bloom.BlockRate),
		blockedLayout("counting-line", "4 quarters of 32 counters of 4 bits in a cache line; the proxy's counting filter",
			4, 512, bloom.LineSize, bloom.LineRate),
	}
}

func sizeLayoutNames() string {
	var names []string
	for _, l := range sizeLayouts() {
		names = append(names, l.name)
	}
	return strings.Join(names, ", ")
}

// textbookLayout is k bits anywhere in an array of m; the unit is a bit.
func textbookLayout() sizeLayout {
	return sizeLayout{
		name: "textbook", about: "k bits anywhere in an array of m",
		bits: func(m uint64, _ int) uint64 { return m },
		rate: bloom.FalsePositiveRate,
		fit: func(n uint64, hashes int, p float64) (uint64, int) {
			if hashes == 0 {
				return bloom.Size(n, p)
			}
			return bloom.CellsFor(n, hashes, p), hashes
		},
		cut: func(bits, n uint64, hashes int) (uint64, int) { return bits, hashesFor(bits, n, hashes) },
		hold: func(bits uint64, hashes int, p float64) (uint64, int, uint64) {
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
func partitionedLayout() sizeLayout {
	textbook := textbookLayout()
	rows := func(bits uint64, k int) uint64 {
		if k == 0 {
			return 0
		}
		return bits / uint64(k)
	}
	return sizeLayout{
		name: "partitioned", about: "one bit in each of k rows of m/k",
		bits: func(row uint64, k int) uint64 { return row * uint64(k) },
		rate: bloom.PartitionedRate,
		fit: func(n uint64, hashes int, p float64) (uint64, int) {
			if hashes == 0 {
				return bloom.PartitionedSize(n, p)
			}
			return rows(bloom.CellsFor(n, hashes, p)+uint64(hashes)-1, hashes), hashes
		},
		cut: func(bits, n uint64, hashes int) (uint64, int) {
			k := hashesFor(bits, n, hashes)
			return rows(bits, k), k
		},
		hold: func(bits uint64, hashes int, p float64) (uint64, int, uint64) {
			_, k, _ := textbook.hold(bits, hashes, p)
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
) sizeLayout {
	return sizeLayout{
		name: name, about: about, hashes: hashes,
		bits: func(units uint64, _ int) uint64 { return units * unitBits },
		rate: func(units uint64, _ int, n uint64) float64 { return rate(units, n) },
		fit:  func(n uint64, _ int, p float64) (uint64, int) { return size(n, p), hashes },
		cut:  func(bits, _ uint64, _ int) (uint64, int) { return bits / unitBits, hashes },
		hold: func(bits uint64, _ int, p float64) (uint64, int, uint64) {
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
