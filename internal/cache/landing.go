package cache

import "sync"

// This file says where the Objects of the window lie. A small one lies in a landing region, with others that landed about
// when it did. It stays there when it moves to the main part, so it is copied no more, and the collector gets no memory of
// its own for it. A look-up finds it in the window by a pointer. So nothing of the window is moved, and a landing region is not
// emptied before all that it has of the window has left that: it becomes one of the others then.
//
// What is rejected, or replaced while it is in the window, leaves a hole meanwhile. Where there are too many of those,
// what lands lies alone for a while.

// landingSpare is how many regions the holes of landing regions may take, beside 1/holesShare of what they hold. The rest of the one
// that is being filled is such a hole.
const landingSpare = 4

// arrival is an Object that is to land. Its memory may be lent: what lands is a copy then.
type arrival struct {
	*Object
	lent bool
	room *[]uint64 // what was lent for it alone; nil: nothing
}

// rooms has memory that is lent.
var rooms = sync.Pool{New: func() any {
	room := make([]uint64, smallBytes/wordBytes)
	return &room
}}

// arrival returns e as one that is to land, until free.
func (s *Store) arrival(e *Entry) arrival {
	if s.main.blocks.smallWords == 0 || len(e.Vary) > 0 || !e.fitsBlock() {
		return arrival{Object: s.object(e)}
	}
	room := rooms.Get().(*[]uint64)
	o := newObjectIn(e, true, *room)
	if o != objectIn(*room) { // it is too large
		rooms.Put(room)
		return arrival{Object: o}
	}
	return arrival{o, true, room}
}

// free takes back what was lent for a alone.
func (a arrival) free() {
	if a.room != nil {
		rooms.Put(a.room)
	}
}

// land returns a copy of o, without marks, which is to go to the window.
func (b *blocks) land(o *Object) *Object {
	n := o.blockWords()
	if !b.fits(o) || !b.hasLanding(n) {
		return o.again()
	}
	r := b.landing
	words, at := r.take(n)
	r.landed++
	b.landings.add(n, 0)
	next := objectIn(words)
	next.copyBlock(o)
	b.give(next, at)
	return next
}

// hasLanding has the landing region have room for n more words. It reports false where the holes do not allow another one.
func (b *blocks) hasLanding(n int) bool {
	was := b.landing
	if was != nil && was.used+n <= len(was.words) {
		return true
	}
	if b.landings.holes()+int64(b.regionWords) > b.landings.held/holesShare+landingSpare*int64(b.regionWords) {
		return false
	}
	b.landing = b.newRegion(&b.landings)
	if was != nil && was.landed == 0 {
		b.join(was)
	}
	return true
}

// offered gives o, which is about to leave the window for the main part, a number, if it has none.
func (b *blocks) offered(o *Object) {
	if o.place == 0 {
		b.hold(o)
		return
	}
	b.departed(o)
}

// leftWindow notes that o has left the window for no other place.
func (b *blocks) leftWindow(o *Object) {
	if o.place != 0 {
		b.departed(o)
		b.release(o)
	}
}

// departed notes that o, which lies in a landing region, has left the window.
func (b *blocks) departed(o *Object) {
	r := b.regionAt(b.places.at(o.place).Load())
	if r.landed--; !b.lands(r) {
		b.join(r)
	}
}

// lands reports whether r has something of the window, or takes what lands.
func (b *blocks) lands(r *region) bool { return r.landed > 0 || r == b.landing }

// join has r, where nothing lands any more, be one of the other regions.
func (b *blocks) join(r *region) {
	b.landings.add(-r.held, -len(r.words))
	b.add(r.held, len(r.words))
	b.list(r)
}

// accountOf returns the account that has r.
func (b *blocks) accountOf(r *region) *account {
	if b.lands(r) {
		return &b.landings
	}
	return &b.account
}
