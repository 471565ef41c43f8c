package counting_test

import (
	"bytes"
	"fmt"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/bloom/textbook"
)

// The hash of a key.
const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127

func Example() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := bloom.Options{Generations: 2, Capacity: 100_000, FalsePositiveRate: 0.01}
	filter, err := counting.New(options, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Add(hi, lo), filter.Add(hi, lo), filter.Add(hi, lo))

	now = now.Add(6 * time.Hour)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("and another in the next generation:", filter.Add(hi, lo))

	now = now.Add(6 * time.Hour)
	filter.Rotate(now, bloom.CauseTime)
	fmt.Println("the first ones forgotten:", filter.Estimate(hi, lo))

	// Output:
	// 1 2 3
	// and another in the next generation: 4
	// the first ones forgotten: 1
}

func Example_textbook() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := bloom.Options{Generations: 2, Capacity: 100_000, FalsePositiveRate: 0.01}
	filter, err := textbook.NewCounting(options, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Add(hi, lo), filter.Add(hi, lo))
	filter.Remove(hi, lo)
	fmt.Println("one taken back:", filter.Estimate(hi, lo))

	// Output:
	// 1 2
	// one taken back: 1
}

func ExampleLoad() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	options := bloom.Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 0.01}
	filter, err := counting.New(options, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	filter.Add(hi, lo)

	var file bytes.Buffer
	if err := filter.Save(&file, now); err != nil {
		fmt.Println(err)
		return
	}
	restored, err := counting.Load(&file, options, now.Add(time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("after the restart:", restored.Estimate(hi, lo))

	options.Capacity = 2000
	_, err = counting.Load(&file, options, now)
	fmt.Println("another size is refused:", err != nil)

	// Output:
	// after the restart: 1
	// another size is refused: true
}
