package index_test

import (
	"fmt"

	"edgeproxy/internal/cache/disk/internal/index"
)

func Example() {
	x := index.New(1_000_000)
	hash := uint64(0x9fb21c651e98df25) // hash of the key, which its owner computes

	there := index.Place{Segment: 7, Offset: 4096 / 64, Class: 12}
	x.Put(hash, there)
	x.Touch(hash, there)

	moved := index.Place{Segment: 9, Offset: 0, Class: 12}
	fmt.Println(x.Swap(hash, there, moved))

	var room [16]index.Place
	for _, p := range x.Find(hash, room[:0]) {
		hits, _ := x.Hits(hash, p)
		fmt.Println(p.Segment, p.Offset, hits)
	}
	// Output:
	// true
	// 9 0 1
}
