package cache

import "time"

// TierStats is what one tier holds and has done. When no write is in progress,
//
//	Writes = Objects + Capacity + Rejected + Variants + Replaced + Purged + Promoted
type TierStats struct {
	// Objects is the number of entries held, Bytes what they take, and MaxBytes
	// the bound of Bytes.
	Objects, Bytes, MaxBytes int64
	// Writes counts entries that landed, and WriteBytes the bytes of their bodies, but
	// for those that another variant had already.
	Writes, WriteBytes int64
	// Evictions: Capacity went to make room, Rejected was refused on the way
	// from the window to the main part (never in the stage), Variants went
	// because of the bounds on variants.
	Capacity, Rejected, Variants int64
	// Lost went, or never landed, although nobody wanted its room: it was damaged, could not be written, or its place
	// could not be noted any more. Of the disk alone.
	Lost int64
	// Replaced went for a newer response of its URL and Purged by Purge or Discard.
	Replaced, Purged int64
	// Promoted went from the stage to the memory tier; in the memory tier it is 0.
	Promoted int64
	// NeverHit is how many of those that left had not been returned by one
	// look-up since they landed in the tier. The promoted had been.
	NeverHit int64
	// CapacityAge and RejectedAge are how old those were that went so: a mean in which the last 500 count most, of which one in eight was looked at. The age is that
	// of the response, since it was received or last validated. Of the disk CapacityAge is how long the records had lain that
	// were evicted last, since they were written or gone over; of several directories the longest. 0: none went, or
	// Options.Now is nil.
	CapacityAge, RejectedAge time.Duration
}

// Stats is what a Store holds and has done, by tier.
type Stats struct {
	// TierStats is the memory tier. Its Bytes include IndexBytes.
	TierStats
	// IndexBytes is what the memory tier's index of variants takes.
	IndexBytes int64
	// PinnedBytes is what bodies take that have left both tiers and are still being sent.
	// It is in no other number here, and 0 where Options.Pinned is nil.
	PinnedBytes int64
	// Stage is all 0 when there is no stage.
	Stage TierStats
	// Disk is all 0 when there is no Disk. It has what earlier processes have stored, so its Writes are fewer than what it holds and has
	// lost.
	Disk TierStats
	// Copies counts what was hit on the disk and copied to memory: each is a write of the memory tier that admission did not
	// ask for. What it let in = Disk.Writes + Writes - Copies.
	Copies int64
}

// Stats reads all counters, one after the other: during a write they may
// disagree by that write.
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

// Fill returns how full the memory tier is, in [0, 1]: its bytes by its bound. It
// is cheap enough to be asked for every request.
//
// A full tier stays below 1, as bytes kept free for one part are of no use to
// another: without variants it lacks the 1/32 of the index, and with objects
// that are large for its size a few of those.
func (s *Store) Fill() float64 {
	return float64(s.memoryBytes()) / float64(s.limits.memoryBytes)
}

func (s *Store) memoryBytes() int64 {
	return s.books.bytes.Load() + s.index.bytes.Load() + s.renewed.bytes.Load()
}
