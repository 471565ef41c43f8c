package top

import (
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Measure is a quantity by which keys are ranked.
type Measure int

// The measures.
const (
	Requests Measure = iota
	Bytes            // bytes of bodies sent
	Misses           // requests that looked up the cache and were not answered from it
	HeldBack         // misses whose response admission held back

	Measures
)

// String returns the measure's name in documents: requests, bytes, misses or held_back.
func (m Measure) String() string {
	return [Measures]string{Requests: "requests", Bytes: "bytes", Misses: "misses", HeldBack: "held_back"}[m]
}

// Kind is a kind of key.
type Kind int

// The kinds of keys.
const (
	Hosts Kind = iota
	URLs

	kinds
)

// Bytes of a key's text that are kept. A longer key is shown cut. Keys are compared by their full text.
const (
	HostBytes = 128
	URLBytes  = 256
)

// Bounds of the number of stripes. There are at least two, so that requests have one while List reads the other.
const (
	minStripes = 2
	maxStripes = 4
)

// generations is the number of windows that are kept: the current one and the one before.
const generations = 2

// Request is what is counted. The caller owns its bytes; they are only read.
type Request struct {
	Scheme         string
	Host, Target   []byte
	Bytes          int64
	Miss, HeldBack bool
	// Lane is any number. Concurrent requests contend less if their lanes differ.
	Lane uint32
}

// Options are the length of the lists, and of a window.
type Options struct {
	Entries int           // the number of counters for each kind and measure, which is the length of each list; 0 is no Table
	Window  time.Duration // requests of the last one to two windows are counted; above 0
}

// Table counts requests by host and URL, over the last one to two windows. It is safe for concurrent use.
type Table struct {
	Options
	start   time.Time
	seed    maphash.Seed
	stripes []*stripe
	dropped atomic.Int64
}

// summaries are the counts of one window.
type summaries [kinds][Measures]*Summary

// stripe is one part of the counts. A request takes a stripe that is not in use.
type stripe struct {
	mu     sync.Mutex
	period int64 // number of the current window
	past   [generations]summaries
}

// New returns a Table whose first window begins at now. It has at least one entry.
func New(o Options, now time.Time) *Table {
	t := &Table{Options: o, start: now, seed: maphash.MakeSeed()}
	for range min(max(runtime.GOMAXPROCS(0), minStripes), maxStripes) {
		s := &stripe{}
		for g := range s.past {
			for m := range Measures {
				s.past[g][Hosts][m] = NewSummary(o.Entries, HostBytes)
				s.past[g][URLs][m] = NewSummary(o.Entries, URLBytes)
			}
		}
		t.stripes = append(t.stripes, s)
	}
	return t
}

// Count counts r, which ended at now. It never waits: if all stripes are in use, r is not counted, and Dropped increases.
// It allocates nothing.
func (t *Table) Count(r *Request, now time.Time) {
	host, url := t.hashes(r)
	for i := range t.stripes {
		if t.stripes[(int(r.Lane)+i)%len(t.stripes)].count(r, host, url, t.periodAt(now)) {
			return
		}
	}
	t.dropped.Add(1)
}

// Dropped returns how many requests were not counted.
func (t *Table) Dropped() int64 { return t.dropped.Load() }

// Since returns the start of the time that the counts at now cover.
func (t *Table) Since(now time.Time) time.Time {
	return t.start.Add(time.Duration(max(t.periodAt(now)-(generations-1), 0)) * t.Window)
}

func (t *Table) periodAt(now time.Time) int64 { return int64(now.Sub(t.start) / t.Window) }

// count counts r, or returns false if s is in use.
func (s *stripe) count(r *Request, host, url uint64, period int64) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	s.rotateLocked(period)
	s.countLocked(r, host, url)
	return true
}

// rotateLocked begins the window period, unless s has already. A request of the window before that comes late is counted in
// the current one.
func (s *stripe) rotateLocked(period int64) {
	if period <= s.period {
		return
	}
	for range min(period-s.period, generations) {
		s.past[0], s.past[1] = s.past[1], s.past[0]
		for k := range s.past[0] {
			for _, summary := range s.past[0][k] {
				summary.Reset()
			}
		}
	}
	s.period = period
}

func (s *stripe) countLocked(r *Request, host, url uint64) {
	weights := [Measures]int64{Requests: 1, Bytes: r.Bytes, Misses: one(r.Miss), HeldBack: one(r.HeldBack)}
	hosts, urls := Key{Host: r.Host}, Key{r.Scheme, r.Host, r.Target}
	now := &s.past[0]
	for m, weight := range weights {
		if weight > 0 {
			now[Hosts][m].Add(host, &hosts, weight)
			now[URLs][m].Add(url, &urls, weight)
		}
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// MemoryBytes returns how much memory the table takes. It never changes.
func (t *Table) MemoryBytes() int64 {
	sum := int64(0)
	for _, s := range t.stripes {
		for g := range s.past {
			for k := range s.past[g] {
				for _, one := range s.past[g][k] {
					sum += one.memoryBytes()
				}
			}
		}
	}
	return sum
}
