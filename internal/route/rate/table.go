package rate

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Buckets is how many a Table has, in 2.1 MiB.
	Buckets = 1 << 17
	// ways is how many buckets a client may have, side by side.
	ways = 8
)

// set holds the buckets of clients with the same hash. They change together, under its lock.
type set struct {
	sync.Mutex
	owner [ways]uint64 // the hash of client and limit; 0: nobody has had the bucket
	full  [ways]int64  // when the bucket is full, in nanoseconds since the table's beginning
}

// Table holds the buckets. It is safe for concurrent use, and allocates nothing after New.
type Table struct {
	seed    maphash.Seed
	begun   time.Time
	sets    []set
	crowded atomic.Int64
}

// New returns a Table that counts time from begun, which is before any other.
func New(begun time.Time) *Table { return newTable(begun, Buckets) }

func newTable(begun time.Time, buckets int) *Table {
	return &Table{seed: maphash.MakeSeed(), begun: begun, sets: make([]set, buckets/ways)}
}

// Take takes a token of client under l at now. Where there is none it returns how long until
// there is one; otherwise 0. name tells the limits of one client apart.
func (t *Table) Take(l Limit, client netip.Prefix, name uint32, now time.Time) (wait time.Duration) {
	at := int64(now.Sub(t.begun))
	owner := t.hash(client, name)
	s := t.set(owner)
	s.Lock()
	defer s.Unlock()
	i, crowded := s.find(owner, at)
	if crowded {
		t.crowded.Add(1)
	}
	s.full[i], wait = l.take(s.full[i], at)
	return wait
}

// Return puts a token of client under l back that it has taken and not used. A client that has lost its bucket since gets none.
func (t *Table) Return(l Limit, client netip.Prefix, name uint32) {
	owner := t.hash(client, name)
	s := t.set(owner)
	s.Lock()
	defer s.Unlock()
	for i := range s.owner {
		if s.owner[i] == owner {
			s.full[i] -= int64(l.interval())
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

// set returns the set of which owner may have a bucket.
func (t *Table) set(owner uint64) *set { return &t.sets[int(owner>>32)&(len(t.sets)-1)] }

// find returns the bucket of owner. A new owner takes the bucket that is full soonest; crowded: at that time it is not full.
func (s *set) find(owner uint64, at int64) (i int, crowded bool) {
	for j := range s.owner {
		if s.owner[j] == owner {
			return j, false
		}
		if s.full[j] < s.full[i] {
			i = j
		}
	}
	crowded = s.full[i] > at
	s.owner[i], s.full[i] = owner, at
	return i, crowded
}
