package counting_test

import (
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
)

func Example() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := bloom.Options{Generations: 2, Capacity: 100_000, FalsePositiveRate: 0.01}
	filter, err := counting.New(options, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127 // the hash of a key

	fmt.Println(filter.Add(hi, lo), filter.Add(hi, lo), filter.Add(hi, lo))
	filter.Remove(hi, lo)
	fmt.Println("one taken back:", filter.Estimate(hi, lo))

	now = now.Add(6 * time.Hour)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("and another in the next generation:", filter.Add(hi, lo))

	now = now.Add(6 * time.Hour)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("the first ones forgotten:", filter.Estimate(hi, lo))

	// Output:
	// 1 2 3
	// one taken back: 2
	// and another in the next generation: 3
	// the first ones forgotten: 1
}
