package counting

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// counters returns the line's 128 counters.
func (l *line) counters() (out [128]int) {
	for i := range out {
		out[i] = int(l[i/16].Load() >> (i % 16 * 4) & Max)
	}
	return out
}

// set gives the line counters, by number.
func (l *line) set(values map[int]int) {
	for i, v := range values {
		l[i/16].Or(uint64(v) << (i % 16 * 4))
	}
}

// The quarters take bits 0-4, 5-9, 10-14 and 15-19 of lo, and have counters 0-31,
// 32-63, 64-95 and 96-127.
func TestAKeyHasTheseCounters(t *testing.T) {
	f := func(lo uint64, want ...int) {
		t.Helper()
		var l line
		if got := l.add(lo); got != 1 {
			t.Errorf("lo %#x: first add: got %d, want 1", lo, got)
		}
		for i, v := range l.counters() {
			if got := v == 1; got != slices.Contains(want, i) || v > 1 {
				t.Errorf("lo %#x: counter %d: got %d, want 1 in %v and 0 elsewhere", lo, i, v, want)
			}
		}
	}
	f(0, 0, 32, 64, 96)
	f(1<<20-1, 31, 63, 95, 127)
	f(1|2<<5|3<<10|4<<15, 1, 34, 67, 100)
	f(15|16<<5|17<<10|30<<15, 15, 48, 81, 126)
}

func TestTheWordsOfALineAreThese(t *testing.T) {
	var l line
	const lo = 1 | 16<<5 | 3<<10 | 31<<15
	for range 5 {
		l.add(lo)
	}
	want := [8]uint64{0x50, 0, 0, 5, 0x5000, 0, 0, 5 << 60}
	for i := range l {
		if got := l[i].Load(); got != want[i] {
			t.Errorf("word %d: got %#x, want %#x", i, got, want[i])
		}
	}
}

func TestOnlyTheSmallestCountersAreRaised(t *testing.T) {
	f := func(before [4]int, wantCount int, want [4]int) {
		t.Helper()
		var l line
		l.set(map[int]int{0: before[0], 32: before[1], 64: before[2], 96: before[3], 1: 7, 33: 15})
		if got := l.estimate(0); got != slices.Min(before[:]) {
			t.Errorf("%v: got an estimate of %d, want the smallest", before, got)
		}
		if got := l.add(0); got != wantCount {
			t.Errorf("%v: got %d, want %d", before, got, wantCount)
		}
		c := l.counters()
		if got := [4]int{c[0], c[32], c[64], c[96]}; got != want || c[1] != 7 || c[33] != 15 {
			t.Errorf("%v: got %v, neighbours %d and %d, want %v and 7 and 15", before, got, c[1], c[33], want)
		}
	}
	f([4]int{0, 0, 0, 0}, 1, [4]int{1, 1, 1, 1})
	f([4]int{2, 1, 3, 1}, 2, [4]int{2, 2, 3, 2})
	f([4]int{1, 2, 3, 4}, 2, [4]int{2, 2, 3, 4})
	f([4]int{4, 3, 2, 4}, 3, [4]int{4, 3, 3, 4})
	f([4]int{4, 3, 4, 4}, 4, [4]int{4, 4, 4, 4})
	f([4]int{14, 15, 15, 14}, 15, [4]int{15, 15, 15, 15})
	f([4]int{15, 15, 15, 15}, 15, [4]int{15, 15, 15, 15})
}

// A counter that has changed since it was read is raised only if it is what it
// was; what happened to its neighbours does not matter.
func TestRaiseHoldsToTheValueThatWasRead(t *testing.T) {
	var l line
	stale := l.cell(0, 0)
	l.set(map[int]int{1: 9})
	if !stale.raise(0) {
		t.Error("a neighbour changed: got not raised, want raised")
	}
	if stale.raise(0) {
		t.Error("the counter changed: got raised, want not")
	}
	if c := l.counters(); c[0] != 1 || c[1] != 9 {
		t.Errorf("got %d and %d, want 1 and 9", c[0], c[1])
	}
}

// Of simultaneous adds of one key each is told a count of its own, in every
// state that neighbours and sharers of counters may have left behind.
func TestSimultaneousAddsOfOneKeyAreToldApart(t *testing.T) {
	const adds, rounds = 6, 400
	random := rand.New(rand.NewPCG(71, 0))
	for round := range rounds {
		var l line
		least := Max
		for q := range quarters {
			v := random.IntN(4)
			least = min(least, v)
			l.set(map[int]int{32 * q: v})
		}
		told := make([]int, adds)
		var wg sync.WaitGroup
		for w := range adds {
			wg.Go(func() { told[w] = l.add(0) })
		}
		wg.Wait()
		slices.Sort(told)
		for i, got := range told {
			if want := least + 1 + i; got != want {
				t.Fatalf("round %d, from %d on: got the counts %v, want each number once", round, least, told)
			}
		}
		if got, want := l.estimate(0), least+adds; got != want {
			t.Fatalf("round %d: got an estimate of %d, want %d", round, got, want)
		}
	}
}

// Adds of keys that share counters: nobody's count may be too low.
func TestSimultaneousAddsOfCrowdedKeysAreNeverTooLow(t *testing.T) {
	const workers, rounds, each = 3, 60, 4
	keys := []uint64{0, 1, 1 << 5, 1 << 10, 1 << 15, 1 | 1<<5, 2, 2 | 1<<15} // all share with others
	for range rounds {
		var l line
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range each * len(keys) {
					l.add(keys[(i*(2*w+1))%len(keys)])
				}
			})
		}
		wg.Wait()
		for _, lo := range keys {
			if got, want := l.estimate(lo), min(workers*each, Max); got < want {
				t.Fatalf("key %#x added %d times: got %d", lo, want, got)
			}
		}
	}
}

// Reading a line that lies across two costs two misses for one.
func TestLinesAreWholeCacheLines(t *testing.T) {
	for n := 1; n < 1_000_000; n += 1 + n/7 {
		if at := reflect.ValueOf(make([]line, n)).Pointer(); at%64 != 0 {
			t.Fatalf("%d lines: got memory at %#x, want a multiple of 64", n, at)
		}
	}
}
