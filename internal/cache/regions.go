package cache

import "sync/atomic"

// This file places the Objects of window and main. A small one lies in a region, which is one piece of memory for many
// of them; any other has memory of its own. Ristretto holds a number for each Object, and no pointer. So the collector
// has no pointers to follow in ristretto's maps, and sees one region instead of hundreds of Objects.
//
// A new Object is placed in a landing region (landing.go). It stays there when it moves from the window to main.
//
// No word of a region is written twice: an Object is added behind the last one, and the memory of a departed one is not
// reused. When too many have departed, the rest of the region is copied to another one, and the region is dropped. A
// reader of an Object in it, departed or not, keeps the region alive: the collector sees to that.

const (
	// regionBytes is how much departed memory a reader of one small Object can keep alive.
	regionBytes = 128 << 10
	// smallBytes is the size of the largest block that lies in a region.
	smallBytes = 4 << 10
	// leastRegions is how many regions must fit into main, or there are none.
	leastRegions = 128
	// holesShare bounds the holes, which departed Objects leave: 1/holesShare of the bytes held in regions, and spareRegions.
	holesShare   = 12
	spareRegions = 2
	// mostEmptied is how many regions are emptied in one write, to keep the write short. After a purge of very many
	// entries it takes some writes until the holes are within their bound.
	mostEmptied = 4

	fillings = 32 // number of lists of regions, by how much they hold
)

// blocks holds the Objects of the main part and the window, each under a number. Anyone may call at, the rest is the
// writer's.
type blocks struct {
	places  table[atomic.Uint64]          // where the Object with a number lies; 0: nowhere
	alone   table[atomic.Pointer[Object]] // Objects in no region
	regions table[atomic.Pointer[region]]

	regionWords, smallWords int               // 0: there are no regions
	open                    *region           // Objects that move are added to it
	full                    [fillings]*region // lists of the other regions, by how much they hold
	account                                   // account of open and the regions in full

	landing  *region // new Objects are added to it; nil: there is none
	landings account // account of the landing regions
}

// account sums up some regions.
type account struct {
	held, words int64 // words of Objects, and all words of the regions
}

// add adds so many words, of which Objects take held.
func (a *account) add(held, words int) {
	a.held += int64(held)
	a.words += int64(words)
}

// holes returns how many words have no Object: departed or not yet used.
func (a *account) holes() int64 { return a.words - a.held }

// region is a piece of memory without pointers. All but words is the writer's.
type region struct {
	words      []uint64
	number     uint32
	used       int // words written so far
	held       int // words of Objects that have not left
	landed     int // number of Objects that are in the window
	next, prev *region
}

// A place says where an Object lies: the number of its region and its first word there, or aloneBit and its number in
// alone.
const aloneBit = 1 << 63

// fit enables regions if bytes are enough for them.
func (b *blocks) fit(bytes int64) {
	if bytes >= leastRegions*regionBytes {
		b.regionWords, b.smallWords = regionBytes/wordBytes, smallBytes/wordBytes
	}
}

// at returns the Object under a number, nil if it has left. Another Object may have the number by now, so the caller
// compares keys.
//
// The Object is there at the moment of the second look at place: a region that is in regions before and after that look
// was there in between, for no region comes back.
func (b *blocks) at(n uint32) *Object {
	for place := b.places.at(n); ; {
		at := place.Load()
		switch {
		case at == 0:
			return nil
		case at&aloneBit != 0:
			held := b.alone.at(uint32(at)) //nolint:gosec // the lower half
			if o := held.Load(); place.Load() == at && held.Load() == o {
				return o
			}
		default:
			held := b.regions.at(uint32(at >> 32))                                    //nolint:gosec // the upper half
			if r := held.Load(); r != nil && place.Load() == at && held.Load() == r { // nil may come back
				return objectIn(r.words[uint32(at):]) //nolint:gosec // the lower half
			}
		}
	}
}

// hold gives o, which lies alone, a number.
func (b *blocks) hold(o *Object) { b.give(o, b.addAlone(o)) }

// give gives o a number. At is the place of o.
func (b *blocks) give(o *Object, at uint64) {
	o.place = b.places.take()
	b.places.at(o.place).Store(at)
}

func (b *blocks) addAlone(o *Object) (at uint64) {
	n := b.alone.take()
	b.alone.at(n).Store(o)
	return aloneBit | uint64(n)
}

// release frees the number and the place of o.
func (b *blocks) release(o *Object) {
	place := b.places.at(o.place)
	at := place.Load()
	place.Store(0)
	b.places.give(o.place)
	b.leave(o, at)
}

// leave notes that o has left the place at.
func (b *blocks) leave(o *Object, at uint64) {
	o.place = 0
	if at&aloneBit != 0 {
		n := uint32(at) //nolint:gosec // the lower half
		b.alone.at(n).Store(nil)
		b.alone.give(n)
		return
	}
	r := b.regionAt(at)
	b.unlist(r)
	r.held -= o.blockWords()
	b.accountOf(r).add(-o.blockWords(), 0)
	b.list(r)
}

// regionAt returns the region of a place.
func (b *blocks) regionAt(at uint64) *region {
	return b.regions.at(uint32(at >> 32)).Load() //nolint:gosec // the upper half
}

// fits reports whether o is small enough for a region, if there are any.
func (b *blocks) fits(o *Object) bool { return o.form&formApart == 0 && o.blockWords() <= b.smallWords }

// pack moves o, which has a number, into a region if it lies alone and is small enough.
func (b *blocks) pack(o *Object) {
	if b.fits(o) && b.places.at(o.place).Load()&aloneBit != 0 {
		b.move(o)
	}
}

// move copies o into the open region.
func (b *blocks) move(o *Object) {
	n := o.blockWords()
	if b.open == nil || b.open.used+n > len(b.open.words) {
		b.openRegion()
	}
	words, at := b.open.take(n)
	b.add(n, 0)
	b.replace(o, o.copyTo(words), at)
}

// take reserves the next n words of r, which must be free. It returns them and their place.
func (r *region) take(n int) (words []uint64, at uint64) {
	words = r.words[r.used : r.used+n : r.used+n]
	at = uint64(r.number)<<32 | uint64(r.used) //nolint:gosec // within a region
	r.used += n
	r.held += n
	return words, at
}

// unpack returns o, which has a number, if it lies alone, else a copy that lies alone and replaces o. The copy is never
// moved.
func (b *blocks) unpack(o *Object) *Object {
	if o.place == 0 || b.places.at(o.place).Load()&aloneBit != 0 {
		return o
	}
	next := o.clone()
	next.copyMarks(o)
	b.replace(o, next, b.addAlone(next))
	return next
}

// replace makes next, a copy of o at that place, replace o under its number.
func (b *blocks) replace(o, next *Object, at uint64) {
	place := b.places.at(o.place)
	was := place.Load()
	next.place = o.place
	place.Store(at)
	if o.asked() { // maybe since it was copied
		next.marks.Or(markAsked)
	}
	b.leave(o, was)
}

// openRegion makes a new region the open one.
func (b *blocks) openRegion() {
	was := b.open
	b.open = b.newRegion(&b.account)
	if was != nil {
		b.list(was)
	}
}

// newRegion makes a region that counts in this account.
func (b *blocks) newRegion(a *account) *region {
	r := &region{words: make([]uint64, b.regionWords), number: b.regions.take()}
	b.regions.at(r.number).Store(r)
	a.add(0, len(r.words))
	return r
}

// tidy empties regions until the holes are within their bound.
func (b *blocks) tidy() {
	for range mostEmptied {
		if b.holes() <= b.held/holesShare+spareRegions*int64(b.regionWords) {
			return
		}
		r := b.sparsest()
		if r == nil {
			return
		}
		b.empty(r)
	}
}

// empty moves all that r holds to other regions.
func (b *blocks) empty(r *region) {
	for at := 0; r.held > 0; {
		o := objectIn(r.words[at:])
		at += o.blockWords()
		if o.place != 0 {
			b.move(o)
		}
	}
}

// sparsest returns a region from the list of the least filled ones, nil if all are full.
func (b *blocks) sparsest() *region {
	for _, r := range b.full[:fillings-1] {
		if r != nil {
			return r
		}
	}
	return nil
}

func (b *blocks) filling(r *region) int { return min(r.held*fillings/len(r.words), fillings-1) }

// list puts r, which has changed, on the list for its filling, unless r is the open region or a landing region. It
// drops a region that holds nothing.
func (b *blocks) list(r *region) {
	switch {
	case r == b.open, b.lands(r):
	case r.held == 0:
		b.regions.at(r.number).Store(nil)
		b.regions.give(r.number)
		b.add(0, -len(r.words))
	default:
		first := &b.full[b.filling(r)]
		if r.next = *first; r.next != nil {
			r.next.prev = r
		}
		*first = r
	}
}

// unlist takes r, which is about to change, off its list.
func (b *blocks) unlist(r *region) {
	if r == b.open || b.lands(r) {
		return
	}
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		b.full[b.filling(r)] = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	}
	r.next, r.prev = nil, nil
}
