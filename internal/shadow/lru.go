package shadow

import "math/bits"

// none is no record.
const none = ^uint32(0)

// lru is a cache of keys and sizes that evicts what was used longest ago. All its
// memory is taken when it is made.
type lru struct {
	records []record
	chains  []uint32 // first record of each; a power of two
	shift   int      // of a hash to the index of its chain

	maxBytes, maxObject int64
	bytes               int64
	used                uint32 // records that were ever used; those beyond are free
	free                uint32 // a list of others, through record.next
	newest, oldest      uint32
}

// recordBytes is the size of a record.
const recordBytes = 40

// record is one object held.
type record struct {
	hi, lo       uint64
	size         int64
	newer, older uint32
	next         uint32 // in its chain
}

// newLRU returns a cache of maxBytes, entryBytes for each object included, of
// objects of up to maxObject bytes.
func newLRU(maxBytes, maxObject int64) *lru {
	n := min(maxBytes/entryBytes+1, maxEntries)
	chains := 1 << bits.Len64(uint64(n-1))
	l := &lru{
		records: make([]record, n), chains: make([]uint32, chains), shift: 64 - bits.Len64(uint64(chains-1)),
		maxBytes: maxBytes, maxObject: maxObject, free: none, newest: none, oldest: none,
	}
	for i := range l.chains {
		l.chains[i] = none
	}
	return l
}

// memory returns the bytes of the records and their index.
func (l *lru) memory() int64 { return recordBytes*int64(len(l.records)) + 4*int64(len(l.chains)) }

// fits reports whether an object of so many bytes may be stored.
func (l *lru) fits(size int64) bool { return size <= l.maxObject && size+entryBytes <= l.maxBytes }

// hit reports whether the key is held. Its size becomes size, if that fits and is
// not unknown: the response in hand is the latest.
func (l *lru) hit(hi, lo uint64, size int64) bool {
	i := *l.link(hi, lo)
	if i == none {
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
		l.makeRoom(0) // i, being the newest, stays: alone it fits
	}
	return true
}

// store adds a key that is not held and whose size fits.
func (l *lru) store(hi, lo uint64, size int64) {
	l.makeRoom(size + entryBytes)
	i := l.take()
	l.records[i] = record{hi: hi, lo: lo, size: size, next: none}
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

// take returns a free record, evicting if there is none.
func (l *lru) take() uint32 {
	if l.free == none && int(l.used) == len(l.records) {
		l.evict()
	}
	if i := l.free; i != none {
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

// link returns the link that leads to the record of a key, or the last one of its
// chain, which leads to none.
func (l *lru) link(hi, lo uint64) *uint32 {
	// By multiplication (Fibonacci hashing), since the slice fixes bits of lo and
	// a filter's block is given by the upper ones of hi.
	at := &l.chains[hi*0x9e3779b97f4a7c15>>l.shift]
	for *at != none {
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
	r.newer, r.older = none, l.newest
	if l.newest == none {
		l.oldest = i
	} else {
		l.records[l.newest].newer = i
	}
	l.newest = i
}

func (l *lru) unlink(i uint32) {
	r := &l.records[i]
	if r.newer == none {
		l.newest = r.older
	} else {
		l.records[r.newer].older = r.older
	}
	if r.older == none {
		l.oldest = r.newer
	} else {
		l.records[r.older].newer = r.newer
	}
}
