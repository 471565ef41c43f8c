package textbook

import (
	"math/rand/v2"
	"testing"

	"edgeproxy/internal/bloom"
)

func TestPartitionedSizeKeepsTheRateInRowsOfEqualLength(t *testing.T) {
	for _, n := range []uint64{10, 1000, 1_000_000} {
		for _, p := range []float64{0.3, 0.01, 1e-6} {
			m, k := bloom.PartitionedSize(n, p)
			if got := bloom.PartitionedRate(m, k, n); got > p*(1+1e-9) {
				t.Errorf("PartitionedSize(%d, %v) = %d, %d: got a rate of %v", n, p, m, k, got)
			}
			if got := bloom.PartitionedRate(m-1, k, n); got < p*(1-1e-9) {
				t.Errorf("PartitionedSize(%d, %v) = %d, %d: a row less by one bit keeps the rate", n, p, m, k)
			}
			if _, want := bloom.Size(n, p); k != want {
				t.Errorf("PartitionedSize(%d, %v): got %d rows, want the %d probes of Size", n, p, k, want)
			}
		}
	}
	if m, k := bloom.PartitionedSize(0, 0.01); m != 0 || k != 0 {
		t.Errorf("no keys: got %d and %d, want 0 and 0", m, k)
	}
}

// Rows cost a hair: a key sets k bits for certain, where probes into one array
// may meet.
func TestPartitionedErrsAHairMore(t *testing.T) {
	for _, m := range []uint64{64, 1000, 100_000} {
		for _, k := range []int{1, 4, 7, 30} {
			rows, one := ExactPartitionedRate(m, k, m), ExactRate(m*uint64(k), k, m)
			if rows < one*(1-1e-12) {
				t.Errorf("%d rows of %d: got %v, want at least the %v of one array", k, m, rows, one)
			}
			// The share is about k/2m of the bits, and k times that of the rate.
			near(t, "rows against one array", rows, one, float64(k*k)/float64(m))
			near(t, "without the limit", bloom.PartitionedRate(m, k, m), bloom.FalsePositiveRate(m*uint64(k), k, m), 1e-9)
		}
	}
}

func TestPartitionedSetsOneBitInEveryRow(t *testing.T) {
	const m, k = 100, 5 // rows that share words with their neighbours
	random := rand.New(rand.NewPCG(41, 0))
	for range 200 {
		f := NewPartitioned(m, k)
		hi, lo := random.Uint64(), random.Uint64()
		f.Add(hi, lo)
		probes := bloom.NewProbes(hi, lo, m)
		for row := range uint64(k) {
			want := row*m + probes.Next()
			for cell := row * m; cell < (row+1)*m; cell++ {
				got := f.words[cell/64].Load()>>(cell%64)&1 == 1
				if got != (cell == want) {
					t.Fatalf("key %x %x, row %d, bit %d: got %v, want only bit %d set", hi, lo, row, cell-row*m, got, want-row*m)
				}
			}
		}
		if got := f.Fill(); got != float64(k)/(m*k) {
			t.Fatalf("fill: got %v, want %v", got, 1.0/m)
		}
	}
}

func TestPartitionedFindsWhatWasAdded(t *testing.T) {
	f := NewPartitioned(20_000, 7)
	keys := hashes(42, 10_000)
	fresh := int64(0)
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
	if f.Keys() != fresh {
		t.Errorf("keys: got %d, want the %d that Add called new", f.Keys(), fresh)
	}
	near(t, "fill", f.Fill(), ExpectedFill(20_000, 1, 10_000), 0.005)
	near(t, "keys by fill", bloom.KeysFromFill(f.Fill(), 7*20_000, 7), 10_000, 0.01)
	f.Clear()
	if f.Has(keys[0][0], keys[0][1]) || f.Fill() != 0 || f.Keys() != 0 {
		t.Error("after Clear: got something left, want nothing")
	}
}

func TestNewPartitionedPanicsOutOfBounds(t *testing.T) {
	f := func(p Params) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("NewPartitionedWith(%+v): got a filter, want a panic", p)
			}
		}()
		NewPartitionedWith(p)
	}
	f(Params{Cells: bloom.MinCells - 1, Probes: 1})
	f(Params{Cells: bloom.MinCells, Probes: 0})
	f(Params{Cells: bloom.MaxCells, Probes: 2}) // one row would do
	f(Params{Cells: bloom.MinCells, Probes: 1, Rule: bloom.RuleSquare + 1})
	f(Params{Cells: bloom.MinCells, Probes: 1, Folds: -1})
	f(Params{Cells: bloom.MinCells, Probes: 1, Folds: 64})
	f(Params{Cells: bloom.MaxCells / 2, Probes: 1, Folds: 2})
}

func TestPartitionedDoesNotAllocate(t *testing.T) {
	f := NewPartitioned(1<<12, 7)
	i := uint64(0)
	if n := testing.AllocsPerRun(100, func() { i++; f.Add(i<<40, i<<50); f.Has(i, i) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
