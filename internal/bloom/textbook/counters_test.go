package textbook

import (
	"math/rand/v2"
	"sync"
	"testing"

	"edgeproxy/internal/bloom"
)

var _ bloom.Generation = (*Counters)(nil)

var updates = []Update{Plain, Conservative}

// keysOf returns n seeded 128-bit hashes.
func keysOf(seed uint64, n int) [][2]uint64 {
	random := rand.New(rand.NewPCG(seed, 7))
	out := make([][2]uint64, n)
	for i := range out {
		out[i] = [2]uint64{random.Uint64(), random.Uint64()}
	}
	return out
}

// above0 counts what Fill counts, by a scan.
func (c *Counters) above0() (n int64) {
	for i := range c.m {
		if c.value(i) > 0 {
			n++
		}
	}
	return n
}

func TestCountersStayInTheirFourBits(t *testing.T) {
	c := NewCounters(64, 1, Plain)
	for cell := range uint64(countersPerWord) {
		for range counterMax + 3 { // beyond the top: no carry into the neighbour
			c.raise(cell, counterMax)
		}
		for other := range c.m {
			want := 0
			if other <= cell {
				want = counterMax
			}
			if got := c.value(other); got != want {
				t.Fatalf("counter %d after raising 0 to %d: got %d, want %d", other, cell, got, want)
			}
		}
	}
	for range 3 { // below 0: no borrow
		if was, changed := c.lower(20); was != 0 || changed {
			t.Fatalf("lower a counter of 0: got %d and %v, want 0 and no change", was, changed)
		}
	}
	if was, changed := c.lower(3); was != counterMax || changed {
		t.Errorf("lower a saturated counter: got %d and %v, want no change", was, changed)
	}
}

func TestEveryNibbleAbove0IsCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		word := random.Uint64() & random.Uint64() & random.Uint64()
		want := 0
		for shift := 0; shift < 64; shift += 4 {
			if word>>shift&0xf != 0 {
				want++
			}
		}
		if got := countersAbove0(word); got != want {
			t.Fatalf("%016x: got %d counters above 0, want %d", word, got, want)
		}
	}
}

// skewed returns sightings of n keys, few of them often and most of them rarely,
// and how often each was sighted.
func skewed(n, sightings int) (order []int, times []int) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(9, 9)), 1.1, 4, uint64(n-1))
	order, times = make([]int, sightings), make([]int, n)
	for i := range order {
		order[i] = int(zipf.Uint64())
		times[order[i]]++
	}
	return order, times
}

// The same sightings, both updates, in arrays so small that they err.
func TestConservativeIsNeverAbovePlainAndNeitherBelowTheTruth(t *testing.T) {
	const n, sightings = 5000, 30_000
	keys := keysOf(1, n)
	order, times := skewed(n, sightings)
	f := func(m uint64, k int) {
		t.Helper()
		plain, conservative := NewCounters(m, k, Plain), NewCounters(m, k, Conservative)
		for _, i := range order {
			h := keys[i]
			above := conservative.Estimate(h[0], h[1])
			if got, _ := conservative.Add(h[0], h[1]); got != min(above+1, counterMax) {
				t.Fatalf("conservative Add after %d: got %d", above, got)
			}
			if got, _ := plain.Add(h[0], h[1]); got < conservative.Estimate(h[0], h[1]) {
				t.Fatalf("plain Add: got %d, want at least the conservative count", got)
			}
		}
		plainWrong, conservativeWrong, seen := 0, 0, 0
		for i, h := range keys {
			truth := min(times[i], counterMax)
			p, c := plain.Estimate(h[0], h[1]), conservative.Estimate(h[0], h[1])
			if c < truth || p < c {
				t.Fatalf("m=%d k=%d, key sighted %d times: got %d plain and %d conservative, want plain >= conservative >= truth",
					m, k, times[i], p, c)
			}
			if times[i] == 0 {
				continue
			}
			seen++
			if p > truth {
				plainWrong++
			}
			if c > truth {
				conservativeWrong++
			}
		}
		if plainWrong < seen/50 {
			t.Errorf("m=%d k=%d: only %d of %d plain counts too high: nothing was tried", m, k, plainWrong, seen)
		}
		if 2*conservativeWrong > plainWrong {
			t.Errorf("m=%d k=%d: got %d conservative counts too high and %d plain ones, want less than half", m, k, conservativeWrong, plainWrong)
		}
		// Either update opens every counter of a new key.
		if plain.Fill() != conservative.Fill() {
			t.Errorf("m=%d k=%d: got a fill of %v conservative and %v plain, want the same", m, k, conservative.Fill(), plain.Fill())
		}
	}
	f(16_000, 4)
	f(20_000, 4)
	f(20_000, 7)
}

// Exactly full, asked for a million unseen keys.
func TestUnseenKeysAreCountedAtTheRateOfABloomFilter(t *testing.T) {
	const n, queries, rate = 20_000, 1_000_000, 0.01
	m, k := bloom.Size(n, bloom.DesignRate(rate))
	for _, u := range updates {
		c := NewCounters(m, k, u)
		for _, h := range keysOf(2, n) {
			c.Add(h[0], h[1])
		}
		random, wrong := rand.New(rand.NewPCG(3, 0)), 0
		for range queries {
			if c.MoreThan(random.Uint64(), random.Uint64(), 0) {
				wrong++
			}
		}
		got := float64(wrong) / queries
		near(t, u.String()+": measured against the formula", got, ExactRate(m, k, n), 0.1)
		near(t, u.String()+": measured against the fill", got, bloom.RateFromFill(c.Fill(), k), 0.1)
		near(t, u.String()+": keys by the fill", bloom.KeysFromFill(c.Fill(), m, k), n, 0.1)
		if got > rate {
			t.Errorf("%v: measured %v, want at most the %v it was made for", u, got, rate)
		}
		if keys := c.Keys(); keys > n || keys < n*99/100 {
			t.Errorf("%v: got %d keys, want the %d added less those that met only open counters", u, keys, n)
		}
	}
}

func TestAddCountsUpToSaturation(t *testing.T) {
	for _, u := range updates {
		c := NewCounters(4096, 5, u)
		h := keysOf(4, 1)[0]
		for i := 1; i <= 20; i++ {
			count, fresh := c.Add(h[0], h[1])
			if want := min(i, counterMax); count != want || c.Estimate(h[0], h[1]) != want {
				t.Errorf("%v, sighting %d: got %d, then %d, want %d", u, i, count, c.Estimate(h[0], h[1]), want)
			}
			if fresh != (i == 1) {
				t.Errorf("%v, sighting %d: got fresh %v, want only the first", u, i, fresh)
			}
		}
		if got := c.Keys(); got != 1 {
			t.Errorf("%v: got %d keys, want 1", u, got)
		}
	}
}

func TestMoreThanIsTheEstimateCompared(t *testing.T) {
	for _, u := range updates {
		c := NewCounters(512, 3, u)
		keys := keysOf(5, 200)
		for i, h := range keys {
			for range i % 20 {
				c.Add(h[0], h[1])
			}
		}
		for _, h := range keys {
			for n := -1; n <= counterMax+1; n++ {
				if got, want := c.MoreThan(h[0], h[1], n), c.Estimate(h[0], h[1]) > n; got != want {
					t.Fatalf("%v: more than %d of %d: got %v, want %v", u, n, c.Estimate(h[0], h[1]), got, want)
				}
			}
		}
	}
}

func TestClearTakesSaturatedCountersToo(t *testing.T) {
	for _, u := range updates {
		c := NewCounters(3*4096*countersPerWord+5, 4, u) // several slices and a rest
		keys := keysOf(6, 2000)
		for i, h := range keys {
			for range i % 20 {
				c.Add(h[0], h[1])
			}
		}
		if c.Fill() != float64(c.above0())/float64(c.m) {
			t.Errorf("%v: got a fill of %v, want that of %d counters", u, c.Fill(), c.above0())
		}
		c.Clear()
		if c.above0() != 0 || c.Fill() != 0 || c.Keys() != 0 {
			t.Errorf("%v, after Clear: got %d counters, fill %v, %d keys, want none", u, c.above0(), c.Fill(), c.Keys())
		}
		if got, want := c.Bytes(), int64(3*4096+1)*8; got != want {
			t.Errorf("bytes: got %d, want %d", got, want)
		}
	}
}

// Adds of different keys lose nothing, and of one key nothing under Plain: the
// array after many workers must equal, counter by counter, that of one.
func TestConcurrentPlainAddsLoseNothing(t *testing.T) {
	const workers, rounds = 4, 4
	keys := keysOf(7, 300)
	together, alone := NewCounters(4096, 5, Plain), NewCounters(4096, 5, Plain)
	work := func(c *Counters, w int) {
		for round := range rounds {
			for i := range keys {
				h := keys[(i*(2*w+1)+round)%len(keys)]
				c.Add(h[0], h[1])
			}
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { work(together, w) })
	}
	wg.Wait()
	for w := range workers {
		work(alone, w)
	}
	for i := range alone.m {
		if got, want := together.value(i), alone.value(i); got != want {
			t.Fatalf("counter %d: got %d, want %d", i, got, want)
		}
	}
	if got, want := together.used.Load(), together.above0(); got != want {
		t.Errorf("counters above 0: got %d counted, want the %d there are", got, want)
	}
}

// Every worker adds keys of its own, in an array where all share counters: none
// may come out too low.
func TestConcurrentConservativeAddsOfDifferentKeysLoseNothing(t *testing.T) {
	const workers, perWorker, times = 4, 200, 6
	keys := keysOf(8, workers*perWorker)
	c := NewCounters(1024, 4, Conservative)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range times {
				for _, h := range keys[w*perWorker : (w+1)*perWorker] {
					c.Add(h[0], h[1])
				}
			}
		})
	}
	wg.Wait()
	for _, h := range keys {
		if got := c.Estimate(h[0], h[1]); got < times {
			t.Fatalf("key added %d times: got %d", times, got)
		}
	}
	if got, want := c.used.Load(), c.above0(); got != want {
		t.Errorf("counters above 0: got %d counted, want the %d there are", got, want)
	}
}

// Simultaneous sightings of one key may count as one, but those of one worker
// follow each other and all count.
func TestConcurrentConservativeAddsOfOneKeyCountWhatFollows(t *testing.T) {
	const workers, times = 3, 5
	for _, h := range keysOf(9, 200) {
		c := NewCounters(1024, 4, Conservative)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range times {
					c.Add(h[0], h[1])
				}
			})
		}
		wg.Wait()
		if got := c.Estimate(h[0], h[1]); got < times || got > workers*times {
			t.Fatalf("%d workers, %d times each: got %d", workers, times, got)
		}
	}
}

func TestNewCountersPanicsOutOfBounds(t *testing.T) {
	f := func(m uint64, k int, u Update) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("NewCounters(%d, %d, %d): got counters, want a panic", m, k, u)
			}
		}()
		NewCounters(m, k, u)
	}
	f(bloom.MinCells-1, 1, Plain)
	f(bloom.MaxCells+1, 1, Plain)
	f(1024, 0, Plain)
	f(1024, bloom.MaxProbes+1, Plain)
	f(1024, 1, Conservative+1)
}

func TestUpdateWords(t *testing.T) {
	if got := Plain.String() + " " + Conservative.String() + " " + Update(9).String(); got != "plain conservative unknown" {
		t.Errorf("got %q, want %q", got, "plain conservative unknown")
	}
}

func TestCountersDoNotAllocate(t *testing.T) {
	for _, u := range updates {
		c := NewCounters(1<<12, 5, u)
		i := uint64(0)
		n := testing.AllocsPerRun(200, func() {
			i++
			c.Add(i<<40, i<<50)
			c.Estimate(i<<40, i<<50)
			c.MoreThan(i<<40, i<<50, 2)
			_, _ = c.Remove(i<<40, i<<50)
		})
		if n != 0 {
			t.Errorf("%v: got %v allocations, want 0", u, n)
		}
	}
}

func BenchmarkCountersAdd(b *testing.B) {
	m, k := bloom.Size(1_000_000, 0.005)
	keys := keysOf(10, 1<<20)
	for _, u := range updates {
		b.Run(u.String(), func(b *testing.B) {
			c := NewCounters(m, k, u)
			for i := 0; b.Loop(); i++ {
				h := keys[i&(1<<20-1)]
				c.Add(h[0], h[1])
			}
		})
	}
}
