package shadow

import "math/bits"

// noRecord is the index of no record.
const noRecord = ^uint32(0)

// lru is a cache of keys and sizes that evicts the least recently used. newLRU
// allocates all its memory.
type lru struct {
	records []record
	chains  []uint32 // hash chains: the first record of each; a power of two
	shift   int      // from a hash to the index of its chain

	maxBytes, maxObject int64
	bytes               int64
	used                uint32 // records that were ever used; the others are free
	free                uint32 // list of used records that are free again, through record.next
	newest, oldest      uint32
}

// recordBytes is the size of a record.
const recordBytes = 40

// record is one cached object.
type record struct {
	hi, lo       uint64
	size         int64
	newer, older uint32
	next         uint32 // in its chain
}

// newLRU returns a cache of maxBytes, for objects of up to maxObject bytes. Each object
// takes entryBytes more than its size.
func newLRU(maxBytes, maxObject int64) *lru {
	n := min(maxBytes/entryBytes+1, maxEntries)
	chains := 1 << bits.Len64(uint64(n-1))
	l := &lru{
		records: make([]record, n), chains: make([]uint32, chains), shift: 64 - bits.Len64(uint64(chains-1)),
		maxBytes: maxBytes, maxObject: maxObject, free: noRecord, newest: noRecord, oldest: noRecord,
	}
	for i := range l.chains {
		l.chains[i] = noRecord
	}
	return l
}

// memory returns the bytes of the records and their index.
func (l *lru) memory() int64 { return recordBytes*int64(len(l.records)) + 4*int64(len(l.chains)) }

// fits reports whether an object of so many bytes may be stored.
func (l *lru) fits(size int64) bool { return size <= l.maxObject && size+entryBytes <= l.maxBytes }

// hit reports whether the key is cached. Its size becomes size, that of the latest
// response, if it is known and fits.
func (l *lru) hit(hi, lo uint64, size int64) bool {
	i := *l.link(hi, lo)
	if i == noRecord {
		return false
	}
	r := &l.records[i]
	if l.newest != i {
		l.unlink(i)
		l.linkNewest(i)
	}
	if size >= 0 && size != r.size && l.fits(size) {
		l.bytes += size - r.size
		r.size = size
		l.makeRoom(0) // i is the newest, so it stays: alone it fits
	}
	return true
}

// store adds a key that is not cached and whose size fits.
func (l *lru) store(hi, lo uint64, size int64) {
	l.makeRoom(size + entryBytes)
	i := l.takeRecord()
	l.records[i] = record{hi: hi, lo: lo, size: size, next: noRecord}
	*l.link(hi, lo) = i
	l.linkNewest(i)
	l.bytes += size + entryBytes
}

// makeRoom evicts until so many bytes fit.
func (l *lru) makeRoom(bytes int64) {
	for l.bytes+bytes > l.maxBytes {
		l.evict()
	}
}

// takeRecord returns a free record, evicting if there is none.
func (l *lru) takeRecord() uint32 {
	if l.free == noRecord && int(l.used) == len(l.records) {
		l.evict()
	}
	if i := l.free; i != noRecord {
		l.free = l.records[i].next
		return i
	}
	l.used++
	return l.used - 1
}

func (l *lru) evict() {
	i := l.oldest
	r := &l.records[i]
	*l.link(r.hi, r.lo) = r.next
	l.unlink(i)
	l.bytes -= r.size + entryBytes
	r.next, l.free = l.free, i
}

// link returns the link to the record of a key, or the last link of its chain, which
// is noRecord.
func (l *lru) link(hi, lo uint64) *uint32 {
	// By multiplication (Fibonacci hashing): the slice fixes bits of lo, and the upper
	// bits of hi choose a filter's block.
	at := &l.chains[hi*0x9e3779b97f4a7c15>>l.shift]
	for *at != noRecord {
		r := &l.records[*at]
		if r.hi == hi && r.lo == lo {
			break
		}
		at = &r.next
	}
	return at
}

func (l *lru) linkNewest(i uint32) {
	r := &l.records[i]
	r.newer, r.older = noRecord, l.newest
	if l.newest == noRecord {
		l.oldest = i
	} else {
		l.records[l.newest].newer = i
	}
	l.newest = i
}

func (l *lru) unlink(i uint32) {
	r := &l.records[i]
	if r.newer == noRecord {
		l.newest = r.older
	} else {
		l.records[r.newer].older = r.older
	}
	if r.older == noRecord {
		l.oldest = r.newer
	} else {
		l.records[r.older].newer = r.newer
	}
}
