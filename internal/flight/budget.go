package flight

import (
	"errors"
	"net/netip"
	"sync"

	"edgeproxy/internal/client"
)

// Budget bounds the bytes that all flights together hold in memory, and the part of them
// that one client's flights may hold while they are scarce. It is safe for concurrent use.
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

// noShare is what reserve returns where the client holds its share. To take memory back from
// others does not help then.
const noShare = -1

// reserve takes n bytes for a flight of c, and returns how many are lacking, 0 if it has
// taken them. firm says that the bytes are for a body that will be stored. Without it they are
// lacking where less than a quarter would be left.
func (b *Budget) reserve(n int64, c netip.Prefix, firm bool) (lacks int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	used, limit := b.used+n, b.limit
	if !firm {
		limit -= limit / 4
	}
	switch {
	case used > limit:
		return used - limit
	case b.shares.Spent(c, int(n)-1, int(used), int(b.limit)):
		return noShare
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

// Take takes n bytes for a client for something else than a flight. The error says whose
// limit it is.
func (b *Budget) Take(n int64, c netip.Prefix) error {
	switch lacks := b.reserve(n, c, true); {
	case lacks == noShare:
		return ErrShare
	case lacks > 0:
		return ErrNoRoom
	}
	return nil
}

// Give gives back what Take has taken.
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
