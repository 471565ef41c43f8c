package textbook_test

import (
	"fmt"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

func ExampleCounters() {
	m, k := bloom.Size(100_000, bloom.DesignRate(0.01))
	const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127 // the hash of a key

	plain := textbook.NewCounters(m, k, textbook.Plain)
	for range 3 {
		plain.Add(hi, lo)
	}
	fmt.Println(plain.Estimate(hi, lo), plain.MoreThan(hi, lo, 2), plain.MoreThan(hi, lo, 3))
	fmt.Println(plain.Remove(hi, lo))
	fmt.Println(plain.Estimate(hi, lo))

	conservative := textbook.NewCounters(m, k, textbook.Conservative)
	fmt.Println(conservative.Add(hi, lo))
	fmt.Println(conservative.Remove(hi, lo))

	// Output:
	// 3 true false
	// true <nil>
	// 2
	// 1 true
	// false counting: conservative update excludes removal
}
