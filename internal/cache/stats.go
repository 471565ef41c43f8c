package cache

import (
	"time"

	"edgeproxy/internal/cache/evicted"
)

// TierStats has the contents and counters of one tier. When no write is in progress,
//
//	Writes = Objects + Capacity + Rejected + Variants + Replaced + Purged + Promoted
type TierStats struct {
	// Objects is the number of entries held, Bytes what they take, and MaxBytes
	// the bound of Bytes.
	Objects, Bytes, MaxBytes int64
	// Writes counts entries that landed, and WriteBytes the bytes of their bodies, except those of a body that another
	// variant had already.
	Writes, WriteBytes int64
	// Evictions: Capacity left to make room. Rejected was refused on leaving the window for the main part (never in the
	// stage). Variants left because of the bounds on variants.
	Capacity, Rejected, Variants int64
	// Lost left, or was never stored, for another reason than room: it was damaged, could not be written, or could not
	// be indexed. Only the disk has any.
	Lost int64
	// Replaced left for a newer response of its URL, and Purged by Purge or Discard.
	Replaced, Purged int64
	// Promoted moved from the stage to the memory tier; in the memory tier it is 0.
	Promoted int64
	// NeverHit is how many of those that left had not been returned by any look-up since they landed in the tier.
	// Promoted entries had been.
	NeverHit int64
	// Outweighed is how often an entry was not stored because those that would have had to leave for it were worth more. Only the
	// memory tier has any.
	Outweighed int64
	// Evicted has the evictions by the bytes that the entry took in the tier, on the disk its record. Of memory and stage it
	// adds up to Capacity + Rejected + Variants, of the disk to Capacity: there the size of a variant that leaves is not
	// known. A record that was last hit in an earlier process counts as never hit.
	Evicted evicted.Counts
	// CapacityAge, RejectedAge and VariantsAge are the mean ages at such evictions. One eviction in eight is sampled, and the last
	// 500 evictions count most. The age is that of the response, since it was received or last validated. On the disk
	// CapacityAge is how long the records evicted last had been there, since they were written or the hand spared them;
	// of several directories the longest. 0: none was evicted, or Options.Now is nil.
	CapacityAge, RejectedAge, VariantsAge time.Duration
}

// Stats has the contents and counters of a Store, by tier.
type Stats struct {
	// TierStats is the memory tier. Its Bytes include IndexBytes.
	TierStats
	// IndexBytes is the size of the memory tier's index of variants.
	IndexBytes int64
	// PinnedBytes is the size of the bodies that have left both tiers and are still being sent. No other number here
	// includes it. It is 0 if Options.Pinned is nil.
	PinnedBytes int64
	// Stage is all 0 when there is no stage.
	Stage TierStats
	// Disk is all 0 when there is no Disk. It includes what earlier processes stored, so its Writes are fewer than what
	// it holds and has lost.
	Disk TierStats
	// Copies counts hits on the disk that were copied to memory. Each is a write of the memory tier that admission did
	// not ask for. Admitted responses = Disk.Writes + Writes - Copies.
	Copies int64
}

// Stats reads all counters, one after the other: they may disagree by a write in progress.
func (s *Store) Stats() Stats {
	st := Stats{
		TierStats:  s.books.stats(s.limits.memoryBytes),
		IndexBytes: s.index.bytes.Load(),
		Stage:      s.stage.books.stats(s.limits.stageBytes),
	}
	st.Bytes += st.IndexBytes + s.renewed.bytes.Load()
	if s.disk != nil {
		st.Disk, st.Copies = s.disk.stats(), s.disk.copies.Load()
	}
	if s.pinned != nil {
		st.PinnedBytes = s.pinned.Bytes()
	}
	return st
}

// Bytes returns the bytes held in both tiers together. It is never above MaxBytes.
func (s *Store) Bytes() int64 { return s.memoryBytes() + s.stage.books.bytes.Load() }

// Objects returns the number of entries held in both tiers together.
func (s *Store) Objects() int64 { return s.books.objects.Load() + s.stage.books.objects.Load() }

// Fill returns how full the memory tier is, in [0, 1]: its bytes divided by its bound. It is cheap enough to call for
// every request.
//
// A full tier stays below 1, as free bytes of one part are of no use to another. Without variants it lacks the 1/32 of
// the index, and with objects that are large for its size a few of those.
func (s *Store) Fill() float64 {
	return float64(s.memoryBytes()) / float64(s.limits.memoryBytes)
}

// Held returns how many entries the memory tier holds, without the stage, and its bytes. It is as cheap as Fill.
func (s *Store) Held() (objects, bytes int64) { return s.books.objects.Load(), s.memoryBytes() }

func (s *Store) memoryBytes() int64 {
	return s.books.bytes.Load() + s.index.bytes.Load() + s.renewed.bytes.Load()
}
