package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/evicted"
)

// counts are the counters of a Store since it was opened.
type counts struct {
	puts, hits, memoryHits, misses                       atomic.Int64
	busy, overRate, tooLarge, off, readOnly              atomic.Int64
	full, dropped, failedMoves, draftsLost               atomic.Int64
	writes, writeBytes                                   atomic.Int64
	rewrites, rewriteBytes                               atomic.Int64
	reads, readBytes                                     atomic.Int64
	evictedSmall, evictedLarge, evictedBytes, overBudget atomic.Int64
	stays                                                atomic.Int64
	removed, lost, damaged, otherKeys                    atomic.Int64
	slowReads, queuedOut, readErrors                     atomic.Int64
	writeErrors, noSpace, failures                       atomic.Int64
	filled, recovered, unreadable, grown                 atomic.Int64
	scrubs, scrubbed                                     atomic.Int64
	evictedAge                                           atomic.Int64 // in nanoseconds
	evictedBySize                                        evicted.Counter
	writeTimes, readTimes                                timing
}

func (c *counts) refused(err error) {
	switch {
	case errors.Is(err, ErrBusy):
		c.busy.Add(1)
	case errors.Is(err, ErrRate):
		c.overRate.Add(1)
	case errors.Is(err, ErrTooLarge):
		c.tooLarge.Add(1)
	case errors.Is(err, ErrReadOnly):
		c.readOnly.Add(1)
	default:
		c.off.Add(1)
	}
}

func (c *counts) wrote(n int64, took time.Duration) {
	c.writes.Add(1)
	c.writeBytes.Add(n)
	if took > 0 { // 0: it was not measured
		c.writeTimes.note(took)
	}
}

func (c *counts) read(n int64, took time.Duration) {
	c.reads.Add(1)
	c.readBytes.Add(n)
	c.readTimes.note(took)
}

func (c *counts) rewrote(n int64) {
	c.rewrites.Add(1)
	c.rewriteBytes.Add(n)
}

func (c *counts) evicted(n int64, kind layout.Kind, hit bool) {
	c.evictedBySize.Note(n, hit)
	c.evictedBytes.Add(n)
	if kind == layout.Large {
		c.evictedLarge.Add(1)
		return
	}
	c.evictedSmall.Add(1)
}

// evictedAfter notes the age of a segment from which records are evicted.
func (c *counts) evictedAfter(d time.Duration) { c.evictedAge.Store(int64(max(d, 1))) }

func (c *counts) evictedInDemand(n int64, kind layout.Kind) {
	c.evicted(n, kind, true)
	c.overBudget.Add(1)
}

// Stats has the contents of a Store, and its counters since it was opened.
type Stats struct {
	// Objects is the number of records in the index, IndexBytes its memory, IndexLoad how full it is, in [0, 1].
	Objects, IndexBytes int64
	IndexLoad           float64
	// IndexGrown is how often the index has grown.
	IndexGrown int64
	// Bytes is the size of the directory, MaxBytes its bound at the moment: less than the option if the file system is full.
	Bytes, MaxBytes int64
	// LiveBytes is the size of the records that can be found, within some percent. The rest of Bytes was replaced or removed and is not free
	// yet, or is no record: heads and footers of segments.
	LiveBytes int64
	// Segments is how many files of records there are; Unfilled of them are not in the index yet.
	Segments, Unfilled int64
	// Waiting is how many records wait to be written or indexed, WaitingBytes their length.
	Waiting, WaitingBytes int64
	// Puts were accepted. Of these, Full found no room, and Dropped were lost to errors.
	Puts, Full, Dropped int64
	// Patches is how many records have a Patch.
	Patches int64
	// Drafts are being written. DraftsLost could not be committed, or a Write was refused.
	Drafts, DraftsLost int64
	// Refused puts and drafts, by reason.
	Busy, OverRate, TooLarge, ReadOnly, Off int64
	// Hits came from the disk, MemoryHits from records that wait to be written.
	Hits, MemoryHits, Misses int64
	// Writes is the number of writes, WriteBytes their bytes, and RewriteBytes those of records that were rewritten.
	Writes, WriteBytes, Rewrites, RewriteBytes int64
	// Reads is how many reads went to the device, or might have.
	Reads, ReadBytes int64
	// WriteTimes are the times of the writes of full buffers, ReadTimes those of all reads.
	WriteTimes, ReadTimes Times
	// Evicted records, by the kind of segment. OverBudget of them had hits.
	EvictedSmall, EvictedLarge, EvictedBytes, OverBudget int64
	// Evicted records, by their length. Never hit is one that was not found since it was written, nor since this process opened the directory;
	// Touch counts as well.
	Evicted evicted.Counts
	// Stays is how often a segment of small records stayed for a lap of the hand, since much of it had hits.
	Stays int64
	// EvictedAge is the age in seconds of the segment that records were evicted from last, since it was written or the hand passed it; 0: none
	// was. A record without hits stays that long.
	EvictedAge float64
	// Removed records were removed or replaced. Lost ones were pushed out of a full index.
	Removed, Lost int64
	// Damaged records had other bytes than were written. OtherKeys is how many reads found the record of another key.
	Damaged, OtherKeys int64
	// ScrubbedBytes were read to find damage; Scrubs is how often all records were.
	Scrubs, ScrubbedBytes int64
	// SlowReads were given up, QueuedOut of them before their turn.
	SlowReads, QueuedOut int64
	// ReadErrors and WriteErrors came from the file system; NoSpace is how often it was full.
	ReadErrors, WriteErrors, NoSpace int64
	// Failures is how often the directory has failed.
	Failures int64
	// Filled records were found at the start. Recovered segments had not been sealed, and Unreadable ones are not in use.
	Filled, Recovered, Unreadable int64
	// Punches says whether large records are punched out one by one, Direct whether writes go past the page cache.
	Punches, WritesDirectly bool
}

// Stats reads all counters, one after the other: they may disagree by concurrent changes.
func (s *Store) Stats() Stats {
	c := &s.counts
	st := Stats{
		Puts: c.puts.Load(), Full: c.full.Load(), Dropped: c.dropped.Load(), DraftsLost: c.draftsLost.Load(),
		Busy: c.busy.Load(), OverRate: c.overRate.Load(), TooLarge: c.tooLarge.Load(), ReadOnly: c.readOnly.Load(), Off: c.off.Load(),
		Hits: c.hits.Load(), MemoryHits: c.memoryHits.Load(), Misses: c.misses.Load(),
		Writes: c.writes.Load(), WriteBytes: c.writeBytes.Load(), Rewrites: c.rewrites.Load(), RewriteBytes: c.rewriteBytes.Load(),
		Reads: c.reads.Load(), ReadBytes: c.readBytes.Load(),
		WriteTimes: c.writeTimes.load(), ReadTimes: c.readTimes.load(),
		EvictedSmall: c.evictedSmall.Load(), EvictedLarge: c.evictedLarge.Load(), EvictedBytes: c.evictedBytes.Load(), OverBudget: c.overBudget.Load(),
		Evicted:    c.evictedBySize.Counts(),
		Stays:      c.stays.Load(),
		EvictedAge: time.Duration(c.evictedAge.Load()).Seconds(),
		Removed:    c.removed.Load(), Lost: c.lost.Load(), Damaged: c.damaged.Load(), OtherKeys: c.otherKeys.Load(),
		SlowReads: c.slowReads.Load(), QueuedOut: c.queuedOut.Load(),
		ReadErrors: c.readErrors.Load(), WriteErrors: c.writeErrors.Load(), NoSpace: c.noSpace.Load(), Failures: c.failures.Load(),
		Scrubs: c.scrubs.Load(), ScrubbedBytes: c.scrubbed.Load(),
		IndexGrown: c.grown.Load(), Filled: c.filled.Load(), Recovered: c.recovered.Load(), Unreadable: c.unreadable.Load(),
	}
	if v := s.volume.Load(); v != nil {
		v.stats(&st)
	}
	return st
}

func (v *volume) stats(st *Stats) {
	st.Objects, st.IndexBytes, st.IndexLoad = int64(v.index.Len()), v.index.Bytes(), v.index.Load()
	st.LiveBytes = v.live()
	st.Drafts, st.Patches = v.drafts.open.Load(), v.patches.count.Load()
	st.Waiting, st.WaitingBytes = v.queue.waiting()
	st.Punches, st.WritesDirectly = v.punches.Load(), v.direct.Load()
	v.segments.stats(st)
}

// live estimates the length of all indexed records.
func (v *volume) live() (sum int64) {
	for class, n := range v.index.Classes() {
		sum += lengthOf(class, n)
	}
	return sum
}

// lengthOf estimates the length of n indexed records of a size class, which is all that the index knows: each counts as the middle of its class.
func lengthOf(class int, n int64) int64 {
	c := uint8(class) //nolint:gosec // below 64
	least := int64(0)
	if c > 0 {
		least = layout.ClassBytes(c - 1)
	}
	return n * (least + layout.ClassBytes(c)) / 2
}

// HitPart is the part of the indexed records that have hits: found or touched since they were written, the hand passed them, or the directory was
// opened. It is worked out from a sample if there are many.
type HitPart struct {
	// Objects and Bytes are parts of Stats.Objects and LiveBytes.
	Objects, Bytes int64
	// Sampled is how many records were looked at. If these are all, Objects is exact.
	Sampled int64
}

// mostSampled is about how many records a HitPart is worked out from.
const mostSampled = 16384

// HitPart looks at the index. It reads nothing from the disk, and takes no lock.
func (s *Store) HitPart() (p HitPart) {
	v := s.volume.Load()
	if v == nil {
		return p
	}
	seen, hit := v.index.Sample(mostSampled)
	for class, n := range v.index.Classes() {
		if seen[class] == 0 {
			continue
		}
		n = n * hit[class] / seen[class]
		p = HitPart{p.Objects + n, p.Bytes + lengthOf(class, n), p.Sampled + seen[class]}
	}
	return p
}

// Room returns the size of the file system of path, and its free bytes. If path does not exist yet, it is the file system where it would be
// made. The error is one of the file system, or errors.ErrUnsupported.
func Room(path string) (free, total int64, err error) {
	for {
		dir, err := device.OpenDir(path, nil)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
			path = filepath.Dir(path)
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("disk tier: %w", err)
		}
		room, err := dir.Room()
		_ = dir.Close() // only read
		return room.Free, room.Total, err
	}
}

// Held returns how many records can be found, and about how many bytes they take; 0 of a directory that has failed. It is cheap enough to call
// for every response.
func (s *Store) Held() (objects, bytes int64) {
	v := s.volume.Load()
	if v == nil {
		return 0, 0
	}
	return int64(v.index.Len()), v.live()
}

// Fill returns how full the Store is, in [0, 1]: its size by its bound at the moment. It is cheap enough to call for every request.
func (s *Store) Fill() float64 {
	v := s.volume.Load()
	if v == nil {
		return 0
	}
	return v.segments.fill()
}

// TimeBounds are the upper bounds of the classes of Times, from 50 µs to 10 s.
var TimeBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 10 * time.Second,
}

// Times is a histogram of how long calls of the device took.
type Times struct {
	// Counts is how many calls took at most the bound of the same index in TimeBounds and more than the one before; the last is how many took
	// longer than all.
	Counts [len(TimeBounds) + 1]int64
	// Sum is the total time of all calls.
	Sum time.Duration
}

// Count returns the number of calls.
func (t *Times) Count() (n int64) {
	for _, c := range t.Counts {
		n += c
	}
	return n
}

// timing collects Times. It is safe for concurrent use.
type timing struct {
	counts [len(TimeBounds) + 1]atomic.Int64
	nanos  atomic.Int64
}

func (t *timing) note(took time.Duration) {
	i := 0
	for i < len(TimeBounds) && took > TimeBounds[i] {
		i++
	}
	t.counts[i].Add(1)
	t.nanos.Add(int64(took))
}

func (t *timing) load() (out Times) {
	for i := range t.counts {
		out.Counts[i] = t.counts[i].Load()
	}
	out.Sum = time.Duration(t.nanos.Load())
	return out
}
