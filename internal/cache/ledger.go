package cache

import "sync/atomic"

// departure says why an entry left the cache. The first three are evictions:
// nobody asked for them.
type departure uint8

const (
	capacity departure = iota // main gave it up for another
	rejected                  // main did not take it from the window
	variants                  // its URL had too many variants, or the index was full
	replaced                  // a newer response took its place
	purged

	departures
)

// ledger counts what came and what left. All are atomics because ristretto's
// worker counts too; the sums agree when no write is in progress.
type ledger struct {
	writes, writeBytes atomic.Int64
	objects, bytes     atomic.Int64 // held in window and main
	gone               [departures]atomic.Int64
}

func (l *ledger) landed(cost, bodyBytes int64) {
	l.writes.Add(1)
	l.writeBytes.Add(bodyBytes)
	l.objects.Add(1)
	l.bytes.Add(cost)
}

func (l *ledger) left(why departure, cost int64) {
	l.gone[why].Add(1)
	l.objects.Add(-1)
	l.bytes.Add(-cost)
}

// Stats is what a Store holds and has done. When no write is in progress,
//
//	Writes = Objects + Capacity + Rejected + Variants + Replaced + Purged
type Stats struct {
	// Objects is the number of entries held, Bytes their cost together with the
	// index, IndexBytes the index alone, and MaxBytes the bound of Bytes.
	Objects, Bytes, IndexBytes, MaxBytes int64
	// Writes counts entries that landed, and WriteBytes the bytes of their bodies.
	Writes, WriteBytes int64
	// Evictions: Capacity went to make room, Rejected was refused on the way
	// from the window to the main part, Variants went because of the bounds on
	// variants.
	Capacity, Rejected, Variants int64
	// Replaced went for a newer response of its URL and Purged by Purge.
	Replaced, Purged int64
}

// Stats reads all counters, one after the other: during a write they may
// disagree by that write.
func (s *Store) Stats() Stats {
	return Stats{
		Objects:    s.Objects(),
		Bytes:      s.Bytes(),
		IndexBytes: s.index.bytes.Load(),
		MaxBytes:   s.limits.maxBytes,
		Writes:     s.books.writes.Load(),
		WriteBytes: s.books.writeBytes.Load(),
		Capacity:   s.books.gone[capacity].Load(),
		Rejected:   s.books.gone[rejected].Load(),
		Variants:   s.books.gone[variants].Load(),
		Replaced:   s.books.gone[replaced].Load(),
		Purged:     s.books.gone[purged].Load(),
	}
}

// Bytes returns the bytes held, by Entry.Cost, with those of the index. It is
// never above MaxBytes.
func (s *Store) Bytes() int64 { return s.books.bytes.Load() + s.index.bytes.Load() }

// Objects returns the number of entries held.
func (s *Store) Objects() int64 { return s.books.objects.Load() }
