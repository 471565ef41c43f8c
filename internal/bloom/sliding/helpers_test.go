package sliding

import (
	"io"
	"math/bits"
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
	lawfulTextbook struct{ *textbook.Sliding }
)

func (f lawful) Sight(hi, lo uint64) bool         { return f.Seen(hi, lo) }
func (f lawful) Count(hi, lo uint64) int          { return count(f.Has(hi, lo)) }
func (f lawfulTextbook) Sight(hi, lo uint64) bool { return f.Seen(hi, lo) }
func (f lawfulTextbook) Count(hi, lo uint64) int  { return count(f.Has(hi, lo)) }

func count(has bool) int {
	if has {
		return 1
	}
	return 0
}

// Fills returns the shares of bits that are set, by a scan.
func (f lawful) Fills() (out []float64) {
	for _, g := range f.ring.Held() {
		ones := 0
		for at := range g.blocks() {
			for i := range g.block(at) {
				ones += bits.OnesCount64(g.block(at)[i].Load())
			}
		}
		out = append(out, float64(ones)/float64(g.Words()*64))
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
			f, err := textbook.NewSliding(o, now)
			return lawfulTextbook{f}, err
		},
		Counts: 1, Exact: 1e-9, Refused: 1e-14, LowBits: 40,
		Bits: 12.30, TextbookBits: 11.11,
	}
}

func shown(f *Filter, err error) (bloomtest.Filter, error) {
	if f == nil {
		return nil, err
	}
	return lawful{f}, err
}

func newTestFilter(t testing.TB, generations int, capacity int64) *Filter {
	t.Helper()
	f, err := New(bloomtest.Options(generations, capacity, 0.01), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newTestTextbook(t testing.TB, generations int, capacity int64, rate float64) *textbook.Sliding {
	t.Helper()
	f, err := textbook.NewSliding(bloomtest.Options(generations, capacity, rate), start)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
