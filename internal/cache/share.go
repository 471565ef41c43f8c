package cache

import (
	"slices"
)

// This file stores a body once that several variants of a URL have, such as a page with
// Vary: Cookie that is the same for all. Each variant keeps an entry of its own, with its
// key and header. The body is counted with one of them, the host; the others are its guests,
// and cost no more than their heads. When the host leaves, a guest becomes the host: it
// lands in the window anew, at the full cost. Until then the body is counted with the tier
// alone, and nothing else lands.

// share is a body that several entries have. It is the writer's.
type share struct {
	bytes  int64
	host   *item   // nil: it has left, and no guest has taken its place yet
	guests []*item // never empty but for moments
}

// mostCompared bounds the variants that a further one is held against.
const mostCompared = 32

// costLocked is what the place of it counts: of a guest all but the body. Ristretto's worker
// asks as well, while the writer waits for it.
func (s *Store) costLocked(it *item) int64 {
	if sh := s.shares[it]; sh != nil && sh.host != it {
		return it.Cost() - sh.bytes
	}
	return it.Cost()
}

// mayBeTwin reports whether e has a body that another variant may have, and a validator,
// which says of nearly all others that they have not.
func mayBeTwin(e *Entry) bool {
	return len(e.Vary) > 0 && e.Content.Size() > 0 && (e.ETag != "" || !e.LastModified.IsZero())
}

func sameValidator(a, b *Entry) bool {
	return a.ETag == b.ETag && (a.ETag != "" || a.LastModified.Equal(b.LastModified))
}

// twinLocked returns another variant of the URL of e with the same validator and the same
// body, nil if there is none among the latest. It compares one body at most: where two with
// one validator differ it says nothing.
func (s *Store) twinLocked(e *Entry) *item {
	slot := s.index.peek(e.URL)
	if slot == nil || !mayBeTwin(e) {
		return nil
	}
	r := slot.value
	for _, k := range r.keys[max(0, len(r.keys)-mostCompared):] {
		if k == e.Key {
			continue
		}
		it := s.ofURLLocked(k, r.name)
		if it == nil || it.Content.Size() != e.Content.Size() || !sameValidator(&it.Entry, e) {
			continue
		}
		if it.Content.same(e.Content) {
			return it
		}
		return nil
	}
	return nil
}

// settleRoomLocked makes room for it, which is about to land, so that nothing has to move
// when it has, and has it share the body of a twin if there is one.
func (s *Store) settleRoomLocked(it *item) (shared bool) {
	for {
		s.settleLocked()
		s.disownLocked(it.Key)
		host, cost := s.twinLocked(&it.Entry), it.Cost()
		if host != nil {
			cost -= it.Content.cost()
		}
		if len(s.orphans) == 0 && s.window.bytes.Load()+cost <= s.limits.windowBytes {
			if host != nil {
				s.visitLocked(it, host)
			}
			return host != nil
		}
		s.makeRoomLocked(cost)
	}
}

// visitLocked makes it, which is about to land, a guest of the body that other has.
func (s *Store) visitLocked(it, other *item) {
	sh := s.shares[other]
	if sh == nil {
		sh = &share{bytes: other.Content.cost(), host: other}
		s.shares[other] = sh
	}
	if own := it.Content.kept; own != nil && own != other.Content.kept {
		s.leftovers.files = append(s.leftovers.files, own.File)
	}
	it.Content, it.Pin = other.Content, other.Pin
	s.shares[it] = sh
	sh.guests = append(sh.guests, it)
}

// disownLocked has the body of what is stored under k, which is about to be replaced, counted
// with one of its guests.
func (s *Store) disownLocked(k Key) {
	if len(s.shares) == 0 {
		return
	}
	if old := s.heldLocked(k); old != nil {
		if sh := s.shares[old]; sh != nil && sh.host == old {
			s.inheritLocked(sh)
		}
	}
}

// leftLocked books the departure of it, which cost so much. Ristretto's worker calls it as
// well, while the writer waits for it.
func (s *Store) leftLocked(why departure, it *item, cost int64) {
	s.books.left(why, it, cost)
	sh := s.shares[it]
	switch {
	case sh == nil:
	case sh.host == it:
		delete(s.shares, it)
		sh.host = nil
		s.books.bytes.Add(sh.bytes) // until a guest has taken its place
		s.orphans = append(s.orphans, sh)
	default:
		s.partLocked(sh, it)
	}
}

// partLocked takes it off the guests. A host without guests is an entry like others.
func (s *Store) partLocked(sh *share, it *item) {
	delete(s.shares, it)
	sh.guests = slices.DeleteFunc(sh.guests, func(other *item) bool { return other == it })
	if len(sh.guests) == 0 {
		delete(s.shares, sh.host)
	}
}

// settleLocked finds a host for each body that has lost its own.
func (s *Store) settleLocked() {
	for len(s.orphans) > 0 {
		sh := s.orphans[0]
		s.orphans = s.orphans[1:]
		if sh.host == nil {
			s.inheritLocked(sh)
		}
	}
	s.orphans = nil
}

// inheritLocked makes a guest of sh the host, if one is left when there is room.
func (s *Store) inheritLocked(sh *share) {
	for len(sh.guests) > 0 {
		heir := sh.guests[0]
		cost := heir.Cost()
		if s.window.bytes.Load()+cost > s.limits.windowBytes {
			s.moveOldestLocked()
			continue
		}
		if sh.host != nil { // it still counts the body, and so does the heir from now on
			s.books.bytes.Add(sh.bytes)
			delete(s.shares, sh.host)
		}
		next := &item{Entry: heir.Entry}
		next.asked.Store(heir.asked.Load())
		next.uses.Store(heir.uses.Load())
		s.books.hold(next)
		if _, slot := s.window.put(next.Key, next, cost); slot == nil {
			s.main.remove(heir)
		}
		s.books.letGo(heir)
		sh.host, s.shares[next] = next, sh
		s.partLocked(sh, heir)
		return
	}
	if sh.host == nil { // all have left
		s.books.bytes.Add(-sh.bytes)
		sh.bytes = 0
	}
}

// takeOverLocked gives it, which stands in for old with the same body, the part of old in a
// share.
func (s *Store) takeOverLocked(it, old *item) {
	sh := s.shares[old]
	if sh == nil {
		return
	}
	delete(s.shares, old)
	s.shares[it] = sh
	if sh.host == old {
		sh.host = it
		return
	}
	sh.guests[slices.Index(sh.guests, old)] = it
}
