package flight

import (
	"errors"
	"net/netip"
	"sync"

	"edgeproxy/internal/route/client"
)

// Budget bounds the bytes that all flights together hold in memory, and the share of them
// that one client's flights may hold while memory is scarce. It is safe for concurrent use.
type Budget struct {
	limit int64
	part  client.Part

	mu     sync.Mutex
	used   int64
	shares *client.Shares
}

// NewBudget returns a Budget of limit bytes, of which one client may hold part while less
// than a quarter is free.
func NewBudget(limit int64, part client.Part) *Budget {
	return &Budget{limit: limit, part: part, shares: client.NewShares(part)}
}

// Used returns the bytes reserved now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// shareSpent is what reserve returns if the client already holds its share. Then it does not help to
// take memory back from other flights.
const shareSpent = -1

// reserve takes n bytes for a flight of c, and returns how many are lacking, 0 if it has
// taken them. forStore says that the bytes are for a body that will be stored. Other bodies leave
// a quarter of the budget free.
func (b *Budget) reserve(n int64, c netip.Prefix, forStore bool) (lacks int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	used, limit := b.used+n, b.limit
	if !forStore {
		limit -= limit / 4
	}
	switch {
	case used > limit:
		return used - limit
	case b.shares.Spent(c, int(n)-1, int(used), int(b.limit)):
		return shareSpent
	}
	b.used = used
	b.shares.Add(c, int(n))
	return 0
}

// Errors of Take.
var (
	ErrNoRoom = errors.New("no memory is left for bodies on their way")
	ErrShare  = errors.New("memory for bodies is scarce, and the client holds its share of it")
)

// Take takes n bytes of a client for something other than a flight. The error says whose
// limit is reached.
func (b *Budget) Take(n int64, c netip.Prefix) error {
	switch lacks := b.reserve(n, c, true); {
	case lacks == shareSpent:
		return ErrShare
	case lacks > 0:
		return ErrNoRoom
	}
	return nil
}

// Give gives back n bytes that Take has taken for c.
func (b *Budget) Give(n int64, c netip.Prefix) { b.release(n, c) }

func (b *Budget) release(n int64, c netip.Prefix) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	b.shares.Add(c, -int(n))
	b.mu.Unlock()
}
