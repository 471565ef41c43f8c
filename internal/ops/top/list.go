package top

import (
	"cmp"
	"slices"
	"time"
)

// Row is one key with the bounds of its count.
type Row struct {
	Key             string // raw bytes
	Cut             bool   // the key is longer than Key
	AtLeast, AtMost int64  // bounds of the true count
}

// List returns the keys with the largest AtLeast, at most n of them, and the sum over all keys. It blocks no request.
func (t *Table) List(kind Kind, by Measure, n int, now time.Time) (rows []Row, total int64) {
	m := merger{byHash: map[uint64]int{}}
	period := t.periodAt(now)
	for _, s := range t.stripes {
		s.mu.Lock()
		s.rotateLocked(period)
		for g := range s.past {
			m.add(s.past[g][kind][by])
		}
		s.mu.Unlock()
	}
	return m.largest(n), m.total
}

// merger adds up summaries. A key without an entry in one of them may have a count of up to its Least there.
type merger struct {
	byHash map[uint64]int // into rows
	rows   []merged
	least  int64 // sum of Least over all summaries
	total  int64
}

type merged struct {
	Row

	hash     uint64
	leastSum int64 // sum of Least over the summaries that have the key
}

func (m *merger) add(s *Summary) {
	least := s.Least()
	m.least += least
	m.total += s.Total()
	for i := range s.entries {
		e := &s.entries[i]
		at, ok := m.byHash[e.hash]
		if !ok {
			at = len(m.rows)
			m.byHash[e.hash] = at
			m.rows = append(m.rows, merged{Row: Row{Key: string(s.name(i)), Cut: e.cut}, hash: e.hash})
		}
		r := &m.rows[at]
		r.AtLeast += e.count - e.overcount
		r.AtMost += e.count
		r.leastSum += least
	}
}

// largest returns the n rows with the largest AtLeast. Ties are broken by AtMost, then by name.
func (m *merger) largest(n int) []Row {
	for i := range m.rows {
		m.rows[i].AtMost += m.least - m.rows[i].leastSum
	}
	slices.SortFunc(m.rows, func(a, b merged) int {
		return cmp.Or(cmp.Compare(b.AtLeast, a.AtLeast), cmp.Compare(b.AtMost, a.AtMost), cmp.Compare(a.Key, b.Key), cmp.Compare(a.hash, b.hash))
	})
	out := make([]Row, 0, min(n, len(m.rows)))
	for i := range cap(out) {
		out = append(out, m.rows[i].Row)
	}
	return out
}
