package flight

import (
	"sync"
	"sync/atomic"
	"time"
)

// markSlots is how many keys can be marked at once: 65,536 slots of 24 bytes for a key of 16,
// 1.5 MiB.
const markSlots = 1 << 16

// Marks remembers for a short while which keys had a response that could not be
// shared, so that nobody waits in a flight for them. It is a table of fixed size: a
// mark may overwrite another one, and then requests for that key wait once more. It is
// safe for concurrent use.
type Marks[K comparable] struct {
	slot   func(K) uint64
	began  time.Time
	latest atomic.Int64   // when the last mark ends, in nanoseconds since began: after that the table need not be read
	locks  [64]sync.Mutex // lock i guards the slots whose index ends in i
	slots  []mark[K]
}

// mark has no pointer, not even that of a time.Time. So the garbage collector need not scan the
// table.
type mark[K comparable] struct {
	key   K
	until time.Duration // since Marks.began; 0: no mark
}

// NewMarks returns an empty table. slot returns 64 well mixed bits of a key. now is the time from
// which the table counts.
func NewMarks[K comparable](now time.Time, slot func(K) uint64) *Marks[K] {
	return &Marks[K]{slot: slot, began: now, slots: make([]mark[K], markSlots)}
}

// Set marks key until the given time.
func (m *Marks[K]) Set(key K, until time.Time) {
	end := until.Sub(m.began)
	for latest := m.latest.Load(); int64(end) > latest && !m.latest.CompareAndSwap(latest, int64(end)); {
		latest = m.latest.Load()
	}
	l, s := m.at(key)
	l.Lock()
	*s = mark[K]{key: key, until: end}
	l.Unlock()
}

// Has reports whether key is marked at now.
func (m *Marks[K]) Has(key K, now time.Time) bool {
	at := now.Sub(m.began)
	if int64(at) >= m.latest.Load() {
		return false // no mark is left
	}
	l, s := m.at(key)
	l.Lock()
	defer l.Unlock()
	return s.key == key && at < s.until
}

// Clear removes the mark of key.
func (m *Marks[K]) Clear(key K) {
	if m.latest.Load() == 0 {
		return // there never was one
	}
	l, s := m.at(key)
	l.Lock()
	if s.key == key {
		*s = mark[K]{}
	}
	l.Unlock()
}

func (m *Marks[K]) at(key K) (*sync.Mutex, *mark[K]) {
	i := m.slot(key) % markSlots
	return &m.locks[i%uint64(len(m.locks))], &m.slots[i]
}
