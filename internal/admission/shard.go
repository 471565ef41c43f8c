package admission

import "sync"

// shard is a part of a sample's table: open addressing with linear probing, of a fixed number of slots, some of which
// are always free.
type shard struct {
	mu    sync.Mutex
	slots []entry // a power of two
	used  int

	_ [64]byte // padding: other goroutines lock the neighbours
}

// entry is one key; begun 0 marks a free slot.
type entry struct {
	hi, lo uint64
	past   keyHistory
	begun  uint64 // sightings begun, never 0 in use
	active uint32 // sightings not yet ended
}

const (
	shardCount = 16
	entryBytes = 64

	// A shard three quarters full is swept; one that stays more than five
	// eighths full is too small. The difference spares it a sweep at every key.
	sweepEighths = 6
	smallEighths = 5
)

// newShards returns the shards of a table with at least n slots.
func newShards(n int64) []shard {
	slots := int64(1)
	for slots*shardCount < n {
		slots *= 2
	}
	out := make([]shard, shardCount)
	for i := range out {
		out[i].slots = make([]entry, slots)
	}
	return out
}

// shard returns the part that a key belongs to.
func (s *sample) shard(hi uint64) *shard { return &s.shards[hi%shardCount] }

// bytes returns the memory of the table.
func (s *sample) bytes() int64 {
	return int64(len(s.shards)) * int64(len(s.shards[0].slots)) * entryBytes
}

func (sh *shard) home(hi uint64) int { return int(hi / shardCount % uint64(len(sh.slots))) }

func (sh *shard) next(i int) int { return (i + 1) & (len(sh.slots) - 1) }

// findLocked returns the entry of a key or nil.
func (sh *shard) findLocked(hi, lo uint64) *entry {
	for i := sh.home(hi); ; i = sh.next(i) {
		e := &sh.slots[i]
		if e.begun == 0 {
			return nil
		}
		if e.hi == hi && e.lo == lo {
			return e
		}
	}
}

// insertLocked makes an entry for a key that has none; roomLocked was true.
func (sh *shard) insertLocked(hi, lo uint64) *entry {
	i := sh.home(hi)
	for sh.slots[i].begun != 0 {
		i = sh.next(i)
	}
	sh.used++
	sh.slots[i] = entry{hi: hi, lo: lo}
	return &sh.slots[i]
}

// roomLocked reports whether a key may be added. If need be it drops outdated keys first: see drop.
func (sh *shard) roomLocked(oldest uint64, bits uint32) bool {
	if sh.used*8 < len(sh.slots)*sweepEighths {
		return true
	}
	sh.dropLocked(oldest, bits)
	return sh.used*8 <= len(sh.slots)*smallEighths
}

// drop removes the keys with no sighting in generation oldest or later, and those that are not in the sample with these
// bits. It keeps keys with a sighting in progress.
func (sh *shard) drop(oldest uint64, bits uint32) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.dropLocked(oldest, bits)
}

func (sh *shard) dropLocked(oldest uint64, bits uint32) {
	for i := 0; i < len(sh.slots); {
		e := &sh.slots[i]
		if e.begun != 0 && e.active == 0 && (e.past.upto < oldest || !inSlice(e.lo, bits)) {
			sh.removeLocked(i) // may move another entry here
			continue
		}
		i++
	}
}

// removeLocked frees slot i and closes the gap: an entry further on moves into
// it where its own way from home leads past (Knuth, The Art of Computer
// Programming 3, 6.4, algorithm R). So no slot is ever marked as deleted.
func (sh *shard) removeLocked(i int) {
	sh.used--
	mask := len(sh.slots) - 1
	for j := sh.next(i); sh.slots[j].begun != 0; j = sh.next(j) {
		fromHome := (j - sh.home(sh.slots[j].hi)) & mask
		if fromHome >= (j-i)&mask {
			sh.slots[i] = sh.slots[j]
			i = j
		}
	}
	sh.slots[i] = entry{}
}

// size returns the keys kept and the number there is room for.
func (sh *shard) size() (keys, capacity int) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.used, len(sh.slots) * sweepEighths / 8
}
