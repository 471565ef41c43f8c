package flight

import "sync/atomic"

// Budget bounds the bytes that all flights together hold in memory. It is safe
// for concurrent use. Two racing reservations may both be refused where one
// would have fitted; the sum never exceeds the limit.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a Budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used returns the bytes reserved now.
func (b *Budget) Used() int64 { return b.used.Load() }

// reserve takes n bytes and reports whether they were there.
func (b *Budget) reserve(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) release(n int64) { b.used.Add(-n) }
