package top

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// exactly counts as a Table does, without a bound.
type exactly [kinds][Measures]map[string]int64

func (e *exactly) count(r *Request) {
	for m, weight := range [Measures]int64{1, r.Bytes, one(r.Miss), one(r.HeldBack)} {
		for k, key := range []string{string(r.Host), r.Scheme + "://" + string(r.Host) + string(r.Target)} {
			if e[k][m] == nil {
				e[k][m] = map[string]int64{}
			}
			e[k][m][key] += weight
		}
	}
}

func randomRequest(r *rand.Rand) *Request {
	z := rand.NewZipf(r, 1.2, 1, 1<<16).Uint64()
	q := &Request{
		Scheme: []string{"http", "https"}[r.IntN(2)], Host: fmt.Appendf(nil, "h%d.example", z%97), Target: fmt.Appendf(nil, "/%d", z),
		Bytes: r.Int64N(100_000), Miss: r.IntN(3) == 0, Lane: uint32(r.IntN(9)),
	}
	q.HeldBack = q.Miss && r.IntN(2) == 0
	return q
}

// The bound holds for what is merged of all stripes and windows.
func TestListsAreWithinTheirBound(t *testing.T) {
	const entries = 40
	r := rand.New(rand.NewPCG(3, 4))
	table, exact := New(Options{entries, time.Hour}, start), exactly{}
	for i := range 30_000 {
		q := randomRequest(r)
		exact.count(q)
		table.Count(q, start.Add(time.Duration(i)*200*time.Millisecond)) // over one and a half windows
	}
	now := start.Add(6000 * time.Second)
	for k := range kinds {
		for m := range Measures {
			rows, total := table.List(k, m, 1_000_000, now)
			sum, known := int64(0), map[string]bool{}
			for _, n := range exact[k][m] {
				sum += n
			}
			if total != sum {
				t.Errorf("kind %d, measure %d: got the total %d, want %d", k, m, total, sum)
			}
			for i, row := range rows {
				known[row.Key] = true
				if is := exact[k][m][row.Key]; is < row.AtLeast || is > row.AtMost || row.AtMost-row.AtLeast > total/entries {
					t.Errorf("kind %d, measure %d, %s: got %d to %d, want %d, and a bound of %d", k, m, row.Key, row.AtLeast, row.AtMost, is, total/entries)
				}
				if i > 0 && row.AtLeast > rows[i-1].AtLeast {
					t.Errorf("kind %d, measure %d: row %d is out of order", k, m, i)
				}
			}
			for key, is := range exact[k][m] {
				if is > total/entries && !known[key] {
					t.Errorf("kind %d, measure %d: %s has %d of %d and is not known", k, m, key, is, total)
				}
			}
		}
	}
}

func TestCountsAreOfTheLastTwoWindows(t *testing.T) {
	table := New(Options{10, time.Minute}, start)
	count := func(at time.Duration) { table.Count(&Request{Scheme: "http", Host: []byte("a")}, start.Add(at)) }
	want := func(at time.Duration, n int64, since time.Duration) {
		t.Helper()
		_, total := table.List(Hosts, Requests, 1, start.Add(at))
		if got := table.Since(start.Add(at)).Sub(start); total != n || got != since {
			t.Errorf("at %v: got %d since %v, want %d since %v", at, total, got, n, since)
		}
	}
	count(time.Second)
	want(59*time.Second, 1, 0)
	count(70 * time.Second)
	count(59 * time.Second) // late: it goes with the others
	want(119*time.Second, 3, 0)
	want(120*time.Second, 2, time.Minute)
	count(130 * time.Second)
	want(179*time.Second, 3, time.Minute)
	want(181*time.Second, 1, 2*time.Minute)
	count(10 * time.Minute)
	want(10*time.Minute, 1, 9*time.Minute)
	want(time.Hour, 0, 59*time.Minute)
}

// Millions of keys take no memory.
func TestAFloodOfKeysTakesNoMemory(t *testing.T) {
	testkit.Plain(t, "counts allocations, and the race detector allocates by itself")
	table := New(Options{64, time.Minute}, start)
	target := make([]byte, 400)
	now, n := start, 0
	flood := func() {
		for range 1000 {
			n++
			now = now.Add(time.Millisecond)
			q := Request{Scheme: "http", Host: target[:20], Target: target, Bytes: 1, Miss: true, HeldBack: true}
			for i := range 8 {
				target[i] = byte(n >> i * 3)
			}
			table.Count(&q, now)
		}
	}
	if got := testing.AllocsPerRun(100, flood); got > 0 {
		t.Errorf("got %v allocations for 1000 keys, want none", got)
	}
}

func TestATableTakesTheMemoryThatItSays(t *testing.T) {
	testkit.Plain(t, "counts bytes allocated, and the race detector allocates by itself")
	took, says := uint64(math.MaxUint64), int64(0)
	for range 10 { // the least is what the table alone has allocated
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table := New(Options{64, time.Minute}, start)
		runtime.ReadMemStats(&after)
		took, says = min(took, after.TotalAlloc-before.TotalAlloc), table.MemoryBytes()
	}
	if got := int64(took); got > says*5/4 || got < says*3/4 { //nolint:gosec // far below the largest
		t.Errorf("a table took %d bytes, and says %d", got, says)
	}
}

// The documents give this number.
func TestAnEntryTakesTheMemoryThatTheDocumentsSay(t *testing.T) {
	for _, entries := range []int{64, 100, 256, 1000, 4096} {
		table := New(Options{entries, time.Minute}, start)
		if per := table.MemoryBytes() / int64(entries*len(table.stripes)); per > 4096 {
			t.Errorf("%d entries: got %d bytes each in a stripe, want at most 4 KiB", entries, per)
		}
	}
}

// A request that comes while all stripes are in use is dropped and counted as such. No request waits.
func TestNobodyWaitsForAStripe(t *testing.T) {
	table := New(Options{10, time.Minute}, start)
	for _, s := range table.stripes {
		s.mu.Lock()
	}
	table.Count(&Request{Host: []byte("a")}, start) // or the test would never end
	for _, s := range table.stripes {
		s.mu.Unlock()
	}
	table.Count(&Request{Host: []byte("a")}, start)
	if _, total := table.List(Hosts, Requests, 1, start); total != 1 || table.Dropped() != 1 {
		t.Errorf("got %d counted and %d dropped, want one of each", total, table.Dropped())
	}
}

func TestEveryRequestIsCountedOrDropped(t *testing.T) {
	const workers, each = 8, 2000
	table := New(Options{16, time.Hour}, start)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for range each {
				q := randomRequest(r)
				q.Lane = uint32(w)
				table.Count(q, start)
			}
		})
		wait.Go(func() {
			for range 20 {
				table.List(URLs, Requests, 10, start)
			}
		})
	}
	wait.Wait()
	_, hosts := table.List(Hosts, Requests, 1, start)
	_, urls := table.List(URLs, Requests, 1, start)
	if got := hosts + table.Dropped(); got != workers*each || urls != hosts {
		t.Errorf("got %d and %d counted and %d dropped, want %d", hosts, urls, table.Dropped(), workers*each)
	}
}

func BenchmarkCount(b *testing.B) {
	f := func(name string, keys int) {
		b.Run(name, func(b *testing.B) {
			table := New(Options{256, time.Hour}, start)
			var all []*Request
			for i := range keys {
				all = append(all, &Request{Scheme: "http", Host: fmt.Appendf(nil, "www%d.example.com", i%50), Target: fmt.Appendf(nil, "/a/path/of/some/length?number=%d", i), Bytes: 1024})
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				table.Count(all[i], start)
				if i++; i == len(all) {
					i = 0
				}
			}
		})
	}
	f("one key", 1)
	f("keys that are known", 200)
	f("keys that are not", 100_000)
}
