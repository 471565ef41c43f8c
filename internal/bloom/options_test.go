package bloom

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func faults(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAskedRate(t *testing.T) {
	for p, want := range map[float64]bool{
		0: false, 1: false, -0.01: false, 1e-300: false, 1e-20: false, 9.9e-16: false, MinRate: true, 0.01: true, MaxRate: true, 0.51: false,
		math.NaN(): false, math.Inf(1): false, math.Inf(-1): false,
	} {
		if got := AskedRate(p); got != want {
			t.Errorf("%v: got %v, want %v", p, got, want)
		}
	}
	if want := fmt.Sprintf("must be a ratio from %v to %v,", MinRate, MaxRate); !strings.HasPrefix(WantRate, want) {
		t.Errorf("got %q, want %q first", WantRate, want)
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(want, "\n"), faults(o.Validate())); diff != "" {
			t.Errorf("%+v: error (-want +got):\n%s", o, diff)
		}
	}
	f(Options{Generations: 2, Capacity: 1, FalsePositiveRate: 0.01})
	f(Options{Generations: 4, Capacity: 1_000_000, FalsePositiveRate: 0.999})
	f(Options{Generations: 1, Capacity: 0, FalsePositiveRate: 1},
		"generations: 1: must be 2 to 4",
		"capacity: 0: must be a number of keys above 0",
		"false_positive_rate: 1: must be a ratio above 0 and below 1")
	f(Options{Generations: 5, Capacity: -3, FalsePositiveRate: 0},
		"generations: 5: must be 2 to 4",
		"capacity: -3: must be a number of keys above 0",
		"false_positive_rate: 0: must be a ratio above 0 and below 1")
	f(Options{Generations: 2, Capacity: 10, FalsePositiveRate: math.NaN()}, "false_positive_rate: NaN: must be a ratio above 0 and below 1")
	tooLarge := "must be a generation of at most 17179869184 cells; fewer keys or a higher false_positive_rate"
	f(Options{Generations: 2, Capacity: 1 << 40, FalsePositiveRate: 0.01}, "capacity: 1099511627776: "+tooLarge)
	f(Options{Generations: 2, Capacity: 1 << 62, FalsePositiveRate: 0.01}, "capacity: 4611686018427387904: "+tooLarge)
}

func TestOptionsNameTheLimitsOfALayout(t *testing.T) {
	f := func(o Options, l Layout, want string) {
		t.Helper()
		if diff := cmp.Diff(want, faults(o.Validate(l))); diff != "" {
			t.Errorf("%+v in %v: error (-want +got):\n%s", o, l, diff)
		}
	}
	for _, l := range []Layout{TextbookBits, TextbookCounters, SplitBlock} {
		f(Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-9}, l, "")
		f(Options{Generations: 4, Capacity: 1000, FalsePositiveRate: 1e-9}, l, "")
		f(Options{Generations: 2, Capacity: 10_000_000, FalsePositiveRate: 0.01}, l, "")
	}
	f(Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-6}, CountingLine, "")
	f(Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-30}, TextbookBits, "")
	f(Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-13}, SplitBlock,
		"false_positive_rate: 1e-13: must be at least 1.4e-12 in the layout split-block-8x32; below that a key takes more than 4096 bits")
	f(Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-9}, CountingLine,
		"false_positive_rate: 1e-09: must be at least 4.9e-07 in the layout counting-line-4x32; below that a key takes more than 4096 bits")
	tooLarge := ": must be a generation of at most 17179869184 cells; fewer keys or a higher false_positive_rate"
	f(Options{Generations: 2, Capacity: 1 << 31, FalsePositiveRate: 0.01}, SplitBlock, "capacity: 2147483648"+tooLarge)
	f(Options{Generations: 2, Capacity: 1 << 31, FalsePositiveRate: 0.01}, CountingLine, "capacity: 2147483648"+tooLarge)

	err := Options{Generations: 2, Capacity: 1000, FalsePositiveRate: 1e-15}.Validate(SplitBlock, CountingLine)
	if got := strings.Count(faults(err), "\n"); got != 1 {
		t.Errorf("two layouts that cannot: got %v, want a fault of each", err)
	}
	if _, ok := errors.AsType[*OptionError](err); !ok {
		t.Errorf("got %T, want an OptionError in it", err)
	}
}

// The rate an error asks for must do, and what is far below it must not.
func TestTheLowestRateNamedIsOneThatWorks(t *testing.T) {
	f := func(l Layout, generations int, rate float64) {
		t.Helper()
		o := Options{Generations: generations, Capacity: 100_000, FalsePositiveRate: rate}
		if err := o.Validate(l); err != nil {
			t.Errorf("%v, %d generations: got %v, want %v to do", l, generations, err, rate)
		}
		units, _ := o.Size(l)
		if got := float64(l.Bytes(units)) * 8 / float64(o.Capacity); got > maxBitsPerKey || got < maxBitsPerKey*8/10 {
			t.Errorf("%v, %d generations, rate %v: got %v bits a key, want a little less than %d", l, generations, rate, got, maxBitsPerKey)
		}
		o.FalsePositiveRate = rate * 0.8
		if err := o.Validate(l); err == nil {
			t.Errorf("%v, %d generations: got no fault for %v, want one", l, generations, o.FalsePositiveRate)
		}
	}
	f(SplitBlock, 2, 1.4e-12)
	f(CountingLine, 2, 4.9e-07)
}

func TestSizeKeepsTheRateOfTheWindow(t *testing.T) {
	f := func(l Layout, rate func(units uint64, probes int, n uint64) float64) {
		t.Helper()
		for generations := MinGenerations; generations <= MaxGenerations; generations++ {
			for _, want := range []float64{0.2, 0.01, 1e-4} {
				o := Options{Generations: generations, Capacity: 100_000, FalsePositiveRate: want}
				units, probes := o.Size(l)
				got := PeakRate(rate(units, probes, 100_000), generations)
				near(t, l.String()+": rate of the full window", got, DesignRate(want), 0.001)
			}
		}
	}
	f(TextbookBits, FalsePositiveRate)
	f(TextbookCounters, FalsePositiveRate)
	f(SplitBlock, func(units uint64, _ int, n uint64) float64 { return BlockRate(units, n) })
	f(CountingLine, func(units uint64, _ int, n uint64) float64 { return LineRate(units, n) })
}

// TestATinyWindowDoesNotErrByChance: a generation of few keys is as large as one
// of minSizedKeys.
func TestATinyWindowDoesNotErrByChance(t *testing.T) {
	for _, l := range []Layout{TextbookBits, TextbookCounters, SplitBlock, CountingLine} {
		want, _ := Options{Generations: 2, Capacity: minSizedKeys, FalsePositiveRate: 0.01}.Size(l)
		for _, keys := range []int64{1, 100, minSizedKeys - 1} {
			if got, _ := (Options{Generations: 2, Capacity: keys, FalsePositiveRate: 0.01}).Size(l); got != want {
				t.Errorf("%v for %d keys: got %d units, want %d", l, keys, got, want)
			}
		}
		if got, _ := (Options{Generations: 2, Capacity: minSizedKeys + 100, FalsePositiveRate: 0.01}).Size(l); got <= want {
			t.Errorf("%v for more keys: got %d units, want more than %d", l, got, want)
		}
	}
}

func TestLayoutNamesAreAllDifferent(t *testing.T) {
	names := map[string]bool{}
	for l := TextbookBits; l <= CountingLine+1; l++ {
		names[l.String()] = true
		if len(l.String()) > 32 {
			t.Errorf("%v: got %d bytes, want at most the 32 that saved state has for it", l, len(l.String()))
		}
	}
	if len(names) != 5 {
		t.Errorf("got the names %v, want 5 different ones", names)
	}
}

// A limit that moves a little changes no size, and one that moves much leaves some
// room, at most twice what it needs.
func TestNextCapacity(t *testing.T) {
	f := func(before, keys, want int64) {
		t.Helper()
		if got := NextCapacity(before, keys); got != want {
			t.Errorf("%d keys after %d: got %d, want %d", keys, before, got, want)
		}
	}
	f(1000, 1000, 1000)
	f(1000, 501, 1000)
	f(1000, 500, 1000)
	f(1000, 499, 623)
	f(1000, 1001, 1251)
	f(1000, 1_000_000, 1_250_000)
	f(1000, 1, 1)
	o := Options{Generations: 2, Capacity: 5, FalsePositiveRate: 0.01}
	if got := o.Next(SplitBlock, 700, 1000).Capacity; got != 1250 {
		t.Errorf("after 700: got %d, want 1250", got)
	}
	if got := o.Next(SplitBlock, 700, 1<<40).Capacity; got != 700 {
		t.Errorf("more than the layout can: got %d, want it to stay", got)
	}
}
