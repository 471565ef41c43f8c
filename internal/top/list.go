package top

import (
	"cmp"
	"slices"
	"time"
)

// Row is one key and what is known of its count.
type Row struct {
	Key             string // bytes as they came
	Cut             bool   // the key is longer than Key
	AtLeast, AtMost int64  // the true count is neither below nor above
}

// List returns the keys with the most that is certain, at most n of them, and the sum over all keys. It holds up no request.
func (t *Table) List(kind Kind, by Measure, n int, now time.Time) (rows []Row, total int64) {
	m := merger{byHash: map[uint64]int{}}
	period := t.periodAt(now)
	for _, s := range t.stripes {
		s.mu.Lock()
		s.turnLocked(period)
		for g := range s.past {
			m.add(s.past[g][kind][by])
		}
		s.mu.Unlock()
	}
	return m.most(n), m.total
}

// merger adds up summaries. A key that is not in one of them may have had up to that one's Least there.
type merger struct {
	byHash map[uint64]int // into rows
	rows   []merged
	least  int64 // sum over all summaries
	total  int64
}

type merged struct {
	Row

	hash uint64
	seen int64 // sum of the least counts of the summaries that the key is in
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
		r.AtLeast += e.count - e.over
		r.AtMost += e.count
		r.seen += least
	}
}

// most returns the n first. Of equal ones the more likely goes first, and then the name decides.
func (m *merger) most(n int) []Row {
	for i := range m.rows {
		m.rows[i].AtMost += m.least - m.rows[i].seen
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
