package textbook_test

import (
	"fmt"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/textbook"
)

// The halves of a key's hash; a program takes those of xxh3-128.
const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127

func ExampleFilter() {
	params, err := textbook.ParamsFor(1_000_000, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	filter := textbook.NewFilterWith(params)
	fmt.Printf("%.2f bits a key, %d probes\n", float64(params.Cells)/1e6, params.Probes)
	fmt.Println("was there:", filter.Add(hi, lo))
	fmt.Println("is there:", filter.Has(hi, lo))
	fmt.Println("another:", filter.Has(lo, hi))

	// Output:
	// 9.68 bits a key, 7 probes
	// was there: false
	// is there: true
	// another: false
}

func ExampleFilter_Union() {
	params := textbook.Params{Cells: 1 << 20, Probes: 7, Seed: 1}
	here, there := textbook.NewFilterWith(params), textbook.NewFilterWith(params)
	there.Add(hi, lo)
	fmt.Println(here.Union(there), here.Has(hi, lo))

	params.Seed = 2
	fmt.Println(here.Union(textbook.NewFilterWith(params)))

	// Output:
	// <nil> true
	// union of two filters: seed: 2: must be 1
}

func ExampleFilter_Halved() {
	filter := textbook.NewFilter(1<<20, 7)
	filter.Add(hi, lo)
	half, err := filter.Halved()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filter.Bytes(), half.Bytes(), half.Has(hi, lo))

	// Output:
	// 131072 65536 true
}

func ExampleFilter_UnmarshalBinary() {
	filter := textbook.NewFilter(1<<10, 7)
	filter.Add(hi, lo)
	data, _ := filter.MarshalBinary() // never fails

	var copied textbook.Filter
	fmt.Println(copied.UnmarshalBinary(data), copied.Has(hi, lo))
	fmt.Println(copied.UnmarshalBinary(data[:100]))

	// Output:
	// <nil> true
	// decode a bloom filter: length: 100: must be 172
}

func ExamplePartitioned() {
	filter := textbook.NewPartitioned(900_000, 30)
	fmt.Println("was there:", filter.Add(hi, lo))
	fmt.Println("is there:", filter.Has(hi, lo))
	fmt.Printf("%.3f MB\n", float64(filter.Bytes())/1e6)
	fmt.Printf("%.2f %% with 1.8 M keys\n", 100*bloom.PartitionedRate(900_000, 30, 1_800_000))

	// Output:
	// was there: false
	// is there: true
	// 3.375 MB
	// 1.27 % with 1.8 M keys
}

func ExampleComposite() {
	set := textbook.NewComposite(textbook.NewFilter(1<<20, 7), textbook.NewFilter(1<<18, 7))
	fmt.Println("found:", set.Add(hi, lo))
	fmt.Println("deleted:", set.Delete(hi, lo))
	fmt.Println("found:", set.Has(hi, lo))
	fmt.Println("added again, found:", set.Add(hi, lo))

	// Output:
	// found: true
	// deleted: true
	// found: false
	// added again, found: false
}
