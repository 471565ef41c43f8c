package cache

import "sync"

// This file places the Objects of the window. A small one lies in a landing region, with others that landed at about
// the same time. It stays there when it moves to main, so it is not copied again, and it needs no memory of its own
// that the collector would see. The window points to it. So no Object of the window is moved, and a landing region is
// not emptied before all its Objects have left the window: then it becomes an ordinary region.
//
// An Object that is rejected, or replaced while it is in the window, leaves a hole. While there are too many holes, new
// Objects get memory of their own.

// landingSpare is how many regions the holes of landing regions may take, beside 1/holesShare of what they hold. The
// unused rest of the region that is being filled counts as a hole.
const landingSpare = 4

// arrival is an Object that is to land. If its memory is lent, it is copied when it lands.
type arrival struct {
	*Object
	lent bool
	room *[]uint64 // the scratch block it lies in; nil: none
}

// scratchBlocks has blocks that are lent to arrivals.
var scratchBlocks = sync.Pool{New: func() any {
	room := make([]uint64, smallBytes/wordBytes)
	return &room
}}

// arrival returns e as an Object that is to land. It is valid until free.
func (s *Store) arrival(e *Entry) arrival {
	if s.main.blocks.smallWords == 0 || len(e.Vary) > 0 || !e.fitsBlock() {
		return arrival{Object: s.object(e)}
	}
	room := scratchBlocks.Get().(*[]uint64)
	o := newObjectIn(e, true, *room)
	if o != objectIn(*room) { // it is too large
		scratchBlocks.Put(room)
		return arrival{Object: o}
	}
	return arrival{o, true, room}
}

// free gives the scratch block of a back.
func (a arrival) free() {
	if a.room != nil {
		scratchBlocks.Put(a.room)
	}
}

// land returns a copy of o, without marks, that is to go to the window.
func (b *blocks) land(o *Object) *Object {
	n := o.blockWords()
	if !b.fits(o) || !b.hasLanding(n) {
		return o.clone()
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

// hasLanding makes sure that the landing region has room for n more words. It returns false if the holes do not allow
// another landing region.
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

// offered prepares o for the move from the window to main: o gets a number, if it has none.
func (b *blocks) offered(o *Object) {
	if o.place == 0 {
		b.hold(o)
		return
	}
	b.departed(o)
}

// leftWindow notes that o has left the window and moves to no other place.
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

// lands reports whether r is a landing region: it has Objects of the window, or new ones are placed there.
func (b *blocks) lands(r *region) bool { return r.landed > 0 || r == b.landing }

// join makes r, which is no landing region any more, an ordinary region.
func (b *blocks) join(r *region) {
	b.landings.add(-r.held, -len(r.words))
	b.add(r.held, len(r.words))
	b.list(r)
}

// accountOf returns the account that r counts in.
func (b *blocks) accountOf(r *region) *account {
	if b.lands(r) {
		return &b.landings
	}
	return &b.account
}
