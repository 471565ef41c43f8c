package cache

import "sync/atomic"

// This file says where the Objects of window and main part lie. A small one lies in a region, which is one
// piece of memory for many of them; any other lies alone. Ristretto has a number for each, and no pointer.
// So the collector has nothing to follow in ristretto's maps, and a region to see where it had hundreds
// of Objects.
//
// What lands lies in a landing region, see landing.go, and stays there when it moves from the window to the main part.
//
// No word of a region is written twice: an Object is added behind the last one, and what has left stays as it is. Where
// too much has left, the rest of the region is copied to another one, and the region is let go. A reader of it, or from an
// Object in it that has left, keeps it for as long as that takes: the collector knows.

const (
	// regionBytes is how much a reader can keep of what has left, with one small Object.
	regionBytes = 128 << 10
	// smallBytes is the size of the largest block that lies in a region.
	smallBytes = 4 << 10
	// leastRegions is how many regions a main part has to have room for, to have any.
	leastRegions = 128
	// holesShare bounds what has left: 1/holesShare of the bytes in regions, and spareRegions.
	holesShare   = 12
	spareRegions = 2
	// mostEmptied is how many regions are emptied in one write: at most a moment. After a purge of very many it takes some
	// writes until the holes are within their bound.
	mostEmptied = 4

	fillings = 32 // how finely regions are told apart by what they hold
)

// blocks is where the Objects of the main part lie, each under a number. at is for anyone, the rest is the writer's.
type blocks struct {
	places  table[atomic.Uint64]          // where the Object of a number lies; 0: nowhere
	alone   table[atomic.Pointer[Object]] // those that lie in no region
	regions table[atomic.Pointer[region]]

	regionWords, smallWords int               // 0: there are no regions
	open                    *region           // takes what is moved
	full                    [fillings]*region // lists of the others, by how much they hold
	account                                   // of open and full

	landing  *region // takes what lands; nil: none does
	landings account // of it, and of those that have something of the window
}

// account is what some regions have.
type account struct {
	held, words int64 // words of Objects, and all words
}

// add adds so many words, of which Objects take held.
func (a *account) add(held, words int) {
	a.held += int64(held)
	a.words += int64(words)
}

// holes returns how many words have no Object.
func (a *account) holes() int64 { return a.words - a.held }

// region is a piece of memory without pointers. All but words is the writer's.
type region struct {
	words      []uint64
	number     uint32
	used       int // words that were written
	held       int // of them those of Objects that are there
	landed     int // Objects of the window
	next, prev *region
}

// A place has where an Object lies: the number of its region and its first word there, or aloneBit and its number among
// those that lie alone.
const aloneBit = 1 << 63

// fit lets b have regions, if bytes are enough for it.
func (b *blocks) fit(bytes int64) {
	if bytes >= leastRegions*regionBytes {
		b.regionWords, b.smallWords = regionBytes/wordBytes, smallBytes/wordBytes
	}
}

// at returns the Object of a number, nil if it has left. It may be another one by now that has its number: so who looks for a
// key compares it.
//
// The Object is there at the moment of the second look at place: a region that is among the regions before and after it was
// there all the while, for none comes back.
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

// give gives o, which lies there, a number.
func (b *blocks) give(o *Object, at uint64) {
	o.place = b.places.take()
	b.places.at(o.place).Store(at)
}

func (b *blocks) addAlone(o *Object) (at uint64) {
	n := b.alone.take()
	b.alone.at(n).Store(o)
	return aloneBit | uint64(n)
}

// release takes back the number of o.
func (b *blocks) release(o *Object) {
	place := b.places.at(o.place)
	at := place.Load()
	place.Store(0)
	b.places.give(o.place)
	b.leave(o, at)
}

// leave notes that o does not lie there any more.
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

// take takes the next n words of r, and returns where they are. There is room for them.
func (r *region) take(n int) (words []uint64, at uint64) {
	words = r.words[r.used : r.used+n : r.used+n]
	at = uint64(r.number)<<32 | uint64(r.used) //nolint:gosec // within a region
	r.used += n
	r.held += n
	return words, at
}

// unpack returns o, which has a number, or in its place a copy that lies alone and stays where it is.
func (b *blocks) unpack(o *Object) *Object {
	if o.place == 0 || b.places.at(o.place).Load()&aloneBit != 0 {
		return o
	}
	next := o.again()
	next.standFor(o)
	b.replace(o, next, b.addAlone(next))
	return next
}

// replace has next, a copy of o that lies there, stand for o.
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

// newRegion makes a region of this account.
func (b *blocks) newRegion(a *account) *region {
	r := &region{words: make([]uint64, b.regionWords), number: b.regions.take()}
	b.regions.at(r.number).Store(r)
	a.add(0, len(r.words))
	return r
}

// tidy empties regions until what has left is within its bound.
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

// sparsest returns a region that holds hardly more than any other, nil if all of them are full.
func (b *blocks) sparsest() *region {
	for _, r := range b.full[:fillings-1] {
		if r != nil {
			return r
		}
	}
	return nil
}

func (b *blocks) filling(r *region) int { return min(r.held*fillings/len(r.words), fillings-1) }

// list lists r, which has changed, unless it is the open region or something lands there. One that holds nothing is let go.
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
