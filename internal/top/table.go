package top

import (
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Measure is what keys are compared by.
type Measure int

// The measures.
const (
	Requests Measure = iota
	Bytes            // of bodies sent
	Misses           // requests that asked the cache and were not answered from it
	HeldBack         // of them those whose response admission held back

	Measures
)

// Kind is what a key is.
type Kind int

// The kinds of keys.
const (
	Hosts Kind = iota
	URLs

	kinds
)

// How much of the text of a key is kept, in bytes. What is longer is shown cut; it is told apart all the same.
const (
	HostBytes = 128
	URLBytes  = 256
)

// The number of stripes. A second one is there for requests while the first is read.
const (
	fewestStripes = 2
	mostStripes   = 4
)

// generations of counts: the one that grows, and the one before it.
const generations = 2

// Request is what is counted. Its bytes belong to the caller and are only read.
type Request struct {
	Scheme         string
	Host, Target   []byte
	Bytes          int64
	Miss, HeldBack bool
	// Lane is any number. Requests that run at the same time had better have different ones.
	Lane uint32
}

// Table counts requests by host and URL, over the last one to two windows. It is safe for concurrent use.
type Table struct {
	entries int
	window  time.Duration
	start   time.Time
	seed    maphash.Seed
	stripes []*stripe
	dropped atomic.Int64
}

// summaries are the counts of one window.
type summaries [kinds][Measures]*Summary

// stripe has counts of its own. A request takes one that nobody else is using.
type stripe struct {
	mu     sync.Mutex
	period int64 // number of the window that grows
	past   [generations]summaries
}

// New returns a Table whose windows begin at now. Of each kind and measure it knows so many keys, at least 1.
// Window is above 0.
func New(entries int, window time.Duration, now time.Time) *Table {
	t := &Table{entries: entries, window: window, start: now, seed: maphash.MakeSeed()}
	for range min(max(runtime.GOMAXPROCS(0), fewestStripes), mostStripes) {
		s := &stripe{}
		for g := range s.past {
			for m := range Measures {
				s.past[g][Hosts][m] = NewSummary(entries, HostBytes)
				s.past[g][URLs][m] = NewSummary(entries, URLBytes)
			}
		}
		t.stripes = append(t.stripes, s)
	}
	return t
}

// Count counts r, which ended at now. It waits for nobody: where all stripes are in use r is not counted, but Dropped
// tells. It allocates nothing.
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

// Entries returns how many keys are known of each kind and measure.
func (t *Table) Entries() int { return t.entries }

// Window returns how long a window is.
func (t *Table) Window() time.Duration { return t.window }

// Since returns from when on requests are counted that are in the counts at now.
func (t *Table) Since(now time.Time) time.Time {
	return t.start.Add(time.Duration(max(t.periodAt(now)-(generations-1), 0)) * t.window)
}

func (t *Table) periodAt(now time.Time) int64 { return int64(now.Sub(t.start) / t.window) }

// count counts r, or reports false where s is in use.
func (s *stripe) count(r *Request, host, url uint64, period int64) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	s.turnLocked(period)
	s.countLocked(r, host, url)
	return true
}

// turnLocked begins the window that now is in, if s has not. One that ended its request a moment before is counted with it.
func (s *stripe) turnLocked(period int64) {
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

// MemoryBytes returns how much memory the table has taken, all of it when it was made.
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
