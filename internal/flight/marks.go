package flight

import (
	"sync"
	"time"
)

// markSlots is how many keys can be marked at once: 65,536 slots of 32 bytes,
// 2 MiB.
const markSlots = 1 << 16

// Marks remembers for a short while which keys answered with something that
// could not be shared, so that nobody queues for them. It is a fixed table: a
// mark may push out another one, whose key then merely queues once more. It is
// safe for concurrent use.
type Marks[K comparable] struct {
	slot  func(K) uint64
	locks [64]sync.Mutex // lock i guards the slots whose index ends in i
	slots []mark[K]
}

type mark[K comparable] struct {
	key   K
	until time.Time
}

// NewMarks returns an empty table. slot gives 64 well mixed bits of a key.
func NewMarks[K comparable](slot func(K) uint64) *Marks[K] {
	return &Marks[K]{slot: slot, slots: make([]mark[K], markSlots)}
}

// Set marks key until the given time.
func (m *Marks[K]) Set(key K, until time.Time) {
	l, s := m.at(key)
	l.Lock()
	*s = mark[K]{key: key, until: until}
	l.Unlock()
}

// Has reports whether key is marked at now.
func (m *Marks[K]) Has(key K, now time.Time) bool {
	l, s := m.at(key)
	l.Lock()
	defer l.Unlock()
	return s.key == key && now.Before(s.until)
}

// Clear takes the mark of key away.
func (m *Marks[K]) Clear(key K) {
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
