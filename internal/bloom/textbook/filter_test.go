package textbook

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"edgeproxy/internal/bloom"
)

// hashes returns n seeded 128-bit hashes.
func hashes(seed uint64, n int) [][2]uint64 {
	random := rand.New(rand.NewPCG(seed, 0))
	out := make([][2]uint64, n)
	for i := range out {
		out[i] = [2]uint64{random.Uint64(), random.Uint64()}
	}
	return out
}

// setBits counts what Fill counts, by a scan.
func (f *Filter) setBits() (n int64) {
	for i := range f.words {
		n += int64(bits.OnesCount64(f.words[i].Load()))
	}
	return n
}

func TestFilterFindsWhatWasAdded(t *testing.T) {
	f := NewFilter(100_000, 7)
	keys := hashes(1, 10_000)
	fresh := 0
	for _, h := range keys {
		if !f.Add(h[0], h[1]) {
			fresh++
		}
	}
	for _, h := range keys {
		if !f.Has(h[0], h[1]) || !f.Add(h[0], h[1]) {
			t.Fatalf("key %x: got not there, want there", h)
		}
	}
	if got := f.Keys(); got != int64(fresh) {
		t.Errorf("Keys: got %d, want the %d that Add said were new", got, fresh)
	}
	near(t, "keys counted", float64(f.Keys()), 10_000, 0.005)
	near(t, "keys by fill", bloom.KeysFromFill(f.Fill(), 100_000, 7), 10_000, 0.02)
}

func TestFilterErrsAtTheStatedRate(t *testing.T) {
	const n, queries = 20_000, 300_000
	f := func(m uint64, k int, r bloom.Rule) {
		t.Helper()
		filter := NewFilterWith(Params{Cells: m, Probes: k, Rule: r})
		for _, h := range hashes(2, n) {
			filter.Add(h[0], h[1])
		}
		got := measure(3, queries, filter.Has)
		near(t, "measured rate against the formula", got, bloom.FalsePositiveRate(m, k, n), 0.1)
		near(t, "measured rate against the fill", got, bloom.RateFromFill(filter.Fill(), k), 0.1)
	}
	m, k := bloom.Size(n, 0.01)
	for _, r := range []bloom.Rule{bloom.RuleEnhanced, bloom.RuleDouble, bloom.RuleSquare} {
		f(10*n, 7, r)
		f(8*n, 4, r)
		f(m, k, r)
	}
}

func TestFilterCountsItsBitsUnderContention(t *testing.T) {
	f := NewFilter(1<<14, 5)
	keys := hashes(4, 500)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for round := range 20 {
				for i := range keys {
					h := keys[(i*(w+1)+round)%len(keys)]
					f.Add(h[0], h[1])
				}
				if w == 0 {
					f.Clear()
				}
			}
		})
	}
	wg.Wait()
	if got, want := f.ones.Load(), f.setBits(); got != want {
		t.Errorf("bits counted: got %d, want the %d that are set", got, want)
	}
	f.Clear()
	if f.setBits() != 0 || f.Fill() != 0 || f.Keys() != 0 {
		t.Errorf("after Clear: got %d bits, fill %v, %d keys, want none", f.setBits(), f.Fill(), f.Keys())
	}
}

func TestSomebodyIsToldThatARacedKeyIsNew(t *testing.T) {
	f := NewFilter(1<<20, 7)
	for _, h := range hashes(5, 500) {
		var fresh atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if !f.Add(h[0], h[1]) {
					fresh.Add(1)
				}
			})
		}
		wg.Wait()
		if fresh.Load() == 0 {
			t.Fatalf("key %x: got three Adds that found it, want one at least that did not", h)
		}
	}
}

func TestClearReachesEveryWord(t *testing.T) {
	f := NewFilter(64*(3*4096+5), 1) // several slices and a rest
	for i := range f.words {
		f.words[i].Store(1 << (i % 64))
	}
	f.ones.Store(int64(len(f.words)))
	f.Clear()
	if got := f.setBits(); got != 0 || f.ones.Load() != 0 {
		t.Errorf("got %d bits set and %d counted, want 0", got, f.ones.Load())
	}
}

func TestNewFilterPanicsOutOfBounds(t *testing.T) {
	f := func(m uint64, k int) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("NewFilter(%d, %d): got a filter, want a panic", m, k)
			}
		}()
		NewFilter(m, k)
	}
	f(bloom.MinCells-1, 1)
	f(bloom.MaxCells+1, 1)
	f(bloom.MinCells, 0)
	f(bloom.MinCells, bloom.MaxProbes+1)
}

func TestFilterDoesNotAllocate(t *testing.T) {
	f := NewFilter(1<<16, 7)
	i := uint64(0)
	if n := testing.AllocsPerRun(100, func() { i++; f.Add(i<<40, i<<50); f.Has(i, i) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkFilterAdd(b *testing.B) {
	m, k := bloom.Size(1_000_000, 0.005)
	f := NewFilter(m, k)
	random := rand.New(rand.NewPCG(6, 0))
	for b.Loop() {
		f.Add(random.Uint64(), random.Uint64())
	}
}

// BenchmarkFilterClear clears the array of a million keys, every word in use.
func BenchmarkFilterClear(b *testing.B) {
	m, k := bloom.Size(1_000_000, 0.005)
	f := NewFilter(m, k)
	for b.Loop() {
		b.StopTimer()
		for i := range f.words {
			f.words[i].Store(1)
		}
		b.StartTimer()
		f.Clear()
	}
}
