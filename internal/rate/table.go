package rate

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// Buckets is how many a Table has: 2 MiB.
	Buckets = 1 << 17
	// ways is how many places a client may have, side by side.
	ways = 8
)

// bucket is the place of one client under one limit. Its two parts are not changed together:
// a client that takes the place of another, while that one asks, may lose or gain a token.
type bucket struct {
	owner atomic.Uint64 // the hash of client and limit; 0: nobody has had it
	full  atomic.Int64  // when it is full, in nanoseconds since the table's beginning
}

// Table holds the buckets. It is safe for concurrent use, takes no mutex and allocates
// nothing after New.
type Table struct {
	seed    maphash.Seed
	begun   time.Time
	buckets []bucket
	crowded atomic.Int64
}

// New returns a Table that counts time from begun, which is before any other.
func New(begun time.Time) *Table { return newTable(begun, Buckets) }

func newTable(begun time.Time, buckets int) *Table {
	return &Table{seed: maphash.MakeSeed(), begun: begun, buckets: make([]bucket, buckets)}
}

// Take takes a token of client under l at now. Where there is none it returns how long until
// there is one; otherwise 0. name tells the limits of one client apart.
func (t *Table) Take(l Limit, client netip.Prefix, name uint32, now time.Time) (wait time.Duration) {
	at := int64(now.Sub(t.begun))
	b := t.find(t.hash(client, name), at)
	for {
		full := b.full.Load()
		next, wait := l.take(full, at)
		if wait > 0 || b.full.CompareAndSwap(full, next) {
			return wait
		}
	}
}

// Return puts a token of client under l back that it has taken and not used.
func (t *Table) Return(l Limit, client netip.Prefix, name uint32) {
	owner := t.hash(client, name)
	set := t.set(owner)
	for i := range set {
		if b := &set[i]; b.owner.Load() == owner {
			b.full.Add(-int64(l.interval))
			return
		}
	}
}

// Crowded returns how often a client took a place whose bucket was not full. The client that
// had it begins again with a full one.
func (t *Table) Crowded() int64 { return t.crowded.Load() }

// hash is never 0.
func (t *Table) hash(client netip.Prefix, name uint32) uint64 {
	var b [21]byte
	addr := client.Addr().As16()
	copy(b[:], addr[:])
	b[16] = byte(client.Bits()) //nolint:gosec // at most 128
	binary.LittleEndian.PutUint32(b[17:], name)
	return maphash.Bytes(t.seed, b[:]) | 1
}

// set returns the buckets that owner may have.
func (t *Table) set(owner uint64) []bucket {
	first := int(owner>>32) & (len(t.buckets) - ways)
	return t.buckets[first : first+ways]
}

// find returns the bucket of owner, if need be in the place of another.
func (t *Table) find(owner uint64, at int64) *bucket {
	set := t.set(owner)
	for {
		soonest := &set[0]
		for i := range set {
			b := &set[i]
			if b.owner.Load() == owner {
				return b
			}
			if b.full.Load() < soonest.full.Load() {
				soonest = b
			}
		}
		if soonest.claim(owner, at, &t.crowded) {
			return soonest
		}
	}
}

// claim makes b the full bucket of owner, and reports whether nobody else came first.
func (b *bucket) claim(owner uint64, at int64, crowded *atomic.Int64) bool {
	old, full := b.owner.Load(), b.full.Load()
	if !b.owner.CompareAndSwap(old, owner) {
		return false
	}
	if full > at {
		crowded.Add(1)
	}
	b.full.CompareAndSwap(full, at)
	return true
}
