package textbook

import (
	"math"
	"testing"
)

func TestOverflowBoundGivesTheWorkedFigure(t *testing.T) {
	// At the best k of 10 bits a key: 1.37e-15 for each counter that 16 is reached.
	const n = 1_000_000
	m := uint64(math.Round(7 * n / math.Ln2))
	if got := OverflowBound(m, 7, n, 16) / float64(m); math.Abs(got-1.37e-15) > 0.01e-15 {
		t.Errorf("got %v, want 1.37e-15", got)
	}
	if got := OverflowBound(100, 7, 1_000_000, 16); got != 1 {
		t.Errorf("far too many keys: got %v, want the bound held at 1", got)
	}
	if got := OverflowBound(100, 7, 0, 16); got != 0 {
		t.Errorf("no keys: got %v, want 0", got)
	}
}

// The bound is one: never below what is measured, and not so far above that it
// says nothing.
func TestOverflowBoundHolds(t *testing.T) {
	const m, k, n, filters = 1000, 5, 138, 2000 // n k / m = ln 2
	highest := [counterMax + 1]int{}
	for seed := range uint64(filters) {
		c := NewCounters(m, k, Plain)
		for _, h := range keysOf(100+seed, n) {
			c.Add(h[0], h[1])
		}
		top := 0
		for i := range c.m {
			top = max(top, c.value(i))
		}
		for v := range top + 1 {
			highest[v]++
		}
	}
	for value := 5; value <= 8; value++ {
		got, bound := float64(highest[value])/filters, OverflowBound(m, k, n, value)
		if got > bound*1.2+2.0/filters {
			t.Errorf("a counter reaches %d: got a chance of %v, want at most the bound of %v", value, got, bound)
		}
	}
	if got, bound := float64(highest[6])/filters, OverflowBound(m, k, n, 6); got < bound/50 {
		t.Errorf("a counter reaches 6: got a chance of %v, the bound of %v says nothing", got, bound)
	}
}
