package counting

import (
	"io"
	"testing"
	"time"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/internal/bloomtest"
	"edgeproxy/internal/bloom/textbook"
)

var start = bloomtest.T0()

// lawful and lawfulTextbook show a filter to the suite of both families.
type (
	lawful         struct{ *Filter }
	lawfulTextbook struct{ *textbook.Counting }
)

func (f lawful) Sight(hi, lo uint64) bool         { return f.Add(hi, lo) > 1 }
func (f lawful) Count(hi, lo uint64) int          { return f.Estimate(hi, lo) }
func (f lawfulTextbook) Sight(hi, lo uint64) bool { return f.Add(hi, lo) > 1 }
func (f lawfulTextbook) Count(hi, lo uint64) int  { return f.Estimate(hi, lo) }

// Fills returns the shares of counters above 0, by a scan.
func (f lawful) Fills() (out []float64) {
	for _, g := range f.ring.Held() {
		inUse := 0
		for i := range g.lines {
			for _, v := range g.lines[i].counters() {
				if v > 0 {
					inUse++
				}
			}
		}
		out = append(out, float64(inUse)/float64(g.Words()*16))
	}
	return out
}

func family() bloomtest.Family {
	return bloomtest.Family{
		New: func(o bloom.Options, now time.Time) (bloomtest.Filter, error) { return shown(New(o, now)) },
		Load: func(r io.Reader, o bloom.Options, now time.Time) (bloomtest.Filter, error) {
			return shown(Load(r, o, now))
		},
		Textbook: func(o bloom.Options, now time.Time) (bloomtest.Window, error) {
			f, err := textbook.NewCounting(o, now)
			return lawfulTextbook{f}, err
		},
		Counts: Max, Exact: 1e-5, Refused: 1e-9, LowBits: 20,
		Bits: 59.57, TextbookBits: 4 * 11.11,
	}
}

func shown(f *Filter, err error) (bloomtest.Filter, error) {
	if f == nil {
		return nil, err
	}
	return lawful{f}, err
}

func newTestFilter(t testing.TB, generations int, capacity int64, rate float64) *Filter {
	t.Helper()
	f, err := New(bloomtest.Options(generations, capacity, rate), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newTestTextbook(t testing.TB, generations int, capacity int64, rate float64) *textbook.Counting {
	t.Helper()
	f, err := textbook.NewCounting(bloomtest.Options(generations, capacity, rate), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// counter is what both filters are to tests of counts, and to benchmarks.
type counter interface {
	bloomtest.Window
	Add(hi, lo uint64) int
	Estimate(hi, lo uint64) int
}

// layouts calls test for every layout: Filter and that of the textbook, of 2, 3 and 4
// generations.
func layouts(t *testing.T, capacity int64, rate float64, test func(t *testing.T, f counter, generations int)) {
	t.Helper()
	for generations := bloom.MinGenerations; generations <= bloom.MaxGenerations; generations++ {
		name := string(rune('0' + generations))
		t.Run("production "+name, func(t *testing.T) { test(t, lawful{newTestFilter(t, generations, capacity, rate)}, generations) })
		t.Run("textbook "+name, func(t *testing.T) {
			test(t, lawfulTextbook{newTestTextbook(t, generations, capacity, rate)}, generations)
		})
	}
}
