package cache

import (
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk"
)

// diskBooks counts what was stored on the disk, without markers.
type diskBooks struct{ writes, writeBytes, variants atomic.Int64 }

func (b *diskBooks) landed(bytes int64) {
	b.writes.Add(1)
	b.writeBytes.Add(bytes)
}

// stats returns the disk's numbers as TierStats. Objects include markers, and what an earlier process stored. NeverHit
// is not known, but for what was evicted.
func (d *diskTier) stats() TierStats {
	t := TierStats{Writes: d.books.writes.Load(), WriteBytes: d.books.writeBytes.Load()}
	if kept, ok := d.Disk.(interface{ Stats() disk.Stats }); ok {
		st := kept.Stats()
		t.Objects, t.Bytes, t.MaxBytes = st.Objects+st.Waiting, st.Bytes, st.MaxBytes
		t.Capacity, t.Evicted = st.EvictedSmall+st.EvictedLarge, st.Evicted
		t.Lost = st.Full + st.Dropped + st.Lost + st.Damaged
		t.Variants = d.books.variants.Load()
		t.Purged = st.Removed
		t.CapacityAge = time.Duration(st.EvictedAge * float64(time.Second))
	}
	return t
}

// RecordEntry returns the entry that a record of the disk was made of, without content, from the record's block. An
// entry without a status is a marker: it says which fields the URL varies by. The error is that of parseEntry.
func RecordEntry(block []byte) (*Entry, error) {
	if len(block) < stampBytes {
		return nil, damaged("its stamp")
	}
	return parseEntry(block[stampBytes:])
}
