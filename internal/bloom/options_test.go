package bloom

import (
	"errors"
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

func TestOptionsNameEveryFault(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(want, "\n"), faults(o.Validate())); diff != "" {
			t.Errorf("%+v: error (-want +got):\n%s", o, diff)
		}
	}
	f(Options{2, 1, 0.01})
	f(Options{4, 1_000_000, 0.999})
	f(Options{1, 0, 1},
		"generations: 1: want 2 to 4",
		"capacity: 0: want a number of keys above 0",
		"false_positive_rate: 1: want a ratio above 0 and below 1")
	f(Options{5, -3, 0},
		"generations: 5: want 2 to 4",
		"capacity: -3: want a number of keys above 0",
		"false_positive_rate: 0: want a ratio above 0 and below 1")
	f(Options{2, 10, math.NaN()}, "false_positive_rate: NaN: want a ratio above 0 and below 1")
	tooLarge := "want a generation of at most 17179869184 cells; fewer keys or a higher false_positive_rate"
	f(Options{2, 1 << 40, 0.01}, "capacity: 1099511627776: "+tooLarge)
	f(Options{2, 1 << 62, 0.01}, "capacity: 4611686018427387904: "+tooLarge)
}

func TestOptionsNameTheLimitsOfALayout(t *testing.T) {
	f := func(o Options, l Layout, want string) {
		t.Helper()
		if diff := cmp.Diff(want, faults(o.Validate(l))); diff != "" {
			t.Errorf("%+v in %v: error (-want +got):\n%s", o, l, diff)
		}
	}
	for _, l := range []Layout{TextbookBits, TextbookCounters, SplitBlock} {
		f(Options{2, 1000, 1e-9}, l, "")
		f(Options{4, 1000, 1e-9}, l, "")
		f(Options{2, 10_000_000, 0.01}, l, "")
	}
	f(Options{2, 1000, 1e-6}, CountingLine, "")
	f(Options{2, 1000, 1e-30}, TextbookBits, "")
	f(Options{2, 1000, 1e-13}, SplitBlock,
		"false_positive_rate: 1e-13: want at least 1.4e-12 in the layout split-block-8x32; below that a key takes more than 4096 bits")
	f(Options{2, 1000, 1e-9}, CountingLine,
		"false_positive_rate: 1e-09: want at least 4.9e-07 in the layout counting-line-4x32; below that a key takes more than 4096 bits")
	tooLarge := ": want a generation of at most 17179869184 cells; fewer keys or a higher false_positive_rate"
	f(Options{2, 1 << 31, 0.01}, SplitBlock, "capacity: 2147483648"+tooLarge)
	f(Options{2, 1 << 31, 0.01}, CountingLine, "capacity: 2147483648"+tooLarge)

	err := Options{2, 1000, 1e-15}.Validate(SplitBlock, CountingLine)
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
		o := Options{generations, 100_000, rate}
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
				o := Options{generations, 100_000, want}
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
		want, _ := Options{2, minSizedKeys, 0.01}.Size(l)
		for _, keys := range []int64{1, 100, minSizedKeys - 1} {
			if got, _ := (Options{2, keys, 0.01}).Size(l); got != want {
				t.Errorf("%v for %d keys: got %d units, want %d", l, keys, got, want)
			}
		}
		if got, _ := (Options{2, minSizedKeys + 100, 0.01}).Size(l); got <= want {
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
