package bloomtest

import (
	"io"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
)

// Window is what every filter does, production's and the textbook's.
type Window interface {
	// Sight records a sighting of the key with this hash and reports whether the
	// window held one before.
	Sight(hi, lo uint64) (known bool)
	// Count returns how many sightings the window holds, 0 or 1 where the family does
	// not count. It records nothing.
	Count(hi, lo uint64) int

	Rotate(now time.Time, cause bloom.Cause) bool
	Full() bool
	FullC() <-chan struct{}
	Held() (oldest, newest uint64)
	Start() time.Time
	Stats(now time.Time) bloom.Stats
	Bytes() int64
}

// Filter is what production's do besides.
type Filter interface {
	Window
	Limit() int64
	SetLimit(keys int64)
	Save(w io.Writer, now time.Time) error
	// Fills returns the share of cells above 0 in each generation held, newest first,
	// by a scan.
	Fills() []float64
}

// Family is how a room shows its filters.
type Family struct {
	New      func(o bloom.Options, now time.Time) (Filter, error)
	Load     func(r io.Reader, o bloom.Options, now time.Time) (Filter, error)
	Textbook func(o bloom.Options, now time.Time) (Window, error)

	Counts  int     // the largest count of a key in one generation, 1 where it does not count
	Exact   float64 // a false positive rate at which no key of a law is mistaken
	Refused float64 // one that production cannot have
	LowBits int     // the bits of lo from 0 on that are looked at

	// The memory for a key of one generation at a rate of 1 %, in bits.
	Bits, TextbookBits float64
}

// law is something that every filter keeps.
type law struct {
	name string
	test func(t *testing.T, f Family)
}

// Run tries every law on the family, but those of Rates.
func Run(t *testing.T, f Family) {
	t.Helper()
	for _, laws := range [][]law{windowLaws(), shapeLaws(), besideLaws(), savedLaws(), sizeLaws()} {
		runAll(t, f, laws)
	}
}

func runAll(t *testing.T, f Family, laws []law) {
	t.Helper()
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.test(t, f) })
	}
}

// T0 is when filters of the laws begin.
func T0() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Options are those of a filter that keeps its size.
func Options(generations int, capacity int64, rate float64) bloom.Options {
	return bloom.Options{Generations: generations, Capacity: capacity, FalsePositiveRate: rate}
}

func (f Family) filter(t testing.TB, o bloom.Options) Filter {
	t.Helper()
	made, err := f.New(o, T0())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (f Family) textbook(t testing.TB, o bloom.Options) Window {
	t.Helper()
	made, err := f.Textbook(o, T0())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// generations calls test with a filter of 2, 3 and 4 generations.
func (f Family) generations(t *testing.T, capacity int64, rate float64, test func(t *testing.T, w Filter, generations int)) {
	t.Helper()
	for n := bloom.MinGenerations; n <= bloom.MaxGenerations; n++ {
		t.Run(string(rune('0'+n)), func(t *testing.T) { test(t, f.filter(t, Options(n, capacity, rate)), n) })
	}
}

// layouts does so with both layouts.
func (f Family) layouts(t *testing.T, capacity int64, rate float64, test func(t *testing.T, w Window, generations int)) {
	t.Helper()
	for n := bloom.MinGenerations; n <= bloom.MaxGenerations; n++ {
		o := Options(n, capacity, rate)
		t.Run("production "+string(rune('0'+n)), func(t *testing.T) { test(t, f.filter(t, o), n) })
		t.Run("textbook "+string(rune('0'+n)), func(t *testing.T) { test(t, f.textbook(t, o), n) })
	}
}

// least is what a filter must at least say of a key sighted n times, all within one
// generation or its successor.
func (f Family) least(n int) int { return min(n, f.Counts) }

// after is what a filter says of a key that it said before of, and that was sighted once
// more in a generation which can still count.
func (f Family) after(before int) int {
	if f.Counts == 1 {
		return 1
	}
	return before + 1
}
