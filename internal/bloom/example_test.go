package bloom_test

import (
	"fmt"

	"edgeproxy/internal/bloom"
)

// The halves of a key's hash; a program takes those of xxh3-128.
const hi, lo = 0x9ae16a3b2f90404f, 0xc3a5c85c97cb3127

func ExampleRule() {
	for _, rule := range []bloom.Rule{bloom.RuleDouble, bloom.RuleSquare, bloom.RuleEnhanced} {
		probes := rule.Probes(hi, lo, 1000)
		fmt.Print(rule, ":")
		for range 5 {
			fmt.Print(" ", probes.Next())
		}
		fmt.Println()
	}

	// Output:
	// double: 605 369 133 897 661
	// square: 605 370 137 906 677
	// enhanced: 605 369 134 901 671
}

func ExampleSize() {
	m, k := bloom.Size(1_000_000, 0.01)
	fmt.Println(m, "bits,", k, "probes")
	n, _ := bloom.Capacity(m, 0.001)
	fmt.Println(n, "keys at a tenth of the rate")
	fmt.Printf("%.4f %% with 7 probes and half of the keys\n", 100*bloom.FalsePositiveRate(m, 7, 500_000))

	// Output:
	// 9592955 bits, 7 probes
	// 667213 keys at a tenth of the rate
	// 0.0249 % with 7 probes and half of the keys
}
