package sliding_test

import (
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/sliding"
)

func Example() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := bloom.Options{Generations: 2, Capacity: 100_000, FalsePositiveRate: 0.01}
	filter, err := sliding.New(options, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127 // the hash of a key

	fmt.Println("first sighting, seen before:", filter.Seen(hi, lo))
	fmt.Println("second sighting, seen before:", filter.Seen(hi, lo))

	now = now.Add(30 * time.Minute)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("half an hour later:", filter.Has(hi, lo))

	now = now.Add(30 * time.Minute)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("an hour later:", filter.Has(hi, lo))
	fmt.Println("the window now goes back", filter.Stats(now).Window)

	// Output:
	// first sighting, seen before: false
	// second sighting, seen before: true
	// half an hour later: true
	// an hour later: false
	// the window now goes back 30m0s
}
