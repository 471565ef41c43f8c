package cache

import (
	"slices"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// This file stores a body once if several variants of a URL have it, such as a page with Vary: Cookie that is the same
// for all. Each variant keeps an entry of its own, with its key and header. The body counts with one of them, the host.
// The others are its guests, and cost no more than their heads. When the host leaves, a guest becomes the host: it
// lands in the window again, at the full cost. Until then the share is an orphan: its body counts with the tier alone,
// and nothing else lands.

// share is a body that several entries have. Only the writer uses it.
type share struct {
	bytes  int64
	host   *Object   // nil: it has left, and no guest has replaced it yet
	guests []*Object // empty only for a moment
}

// mostCompared bounds the variants that a new one is compared with.
const mostCompared = 32

// costLocked is how many bytes it counts: a guest counts all but the body. Ristretto's worker asks as well, while the
// writer waits for it.
func (s *Store) costLocked(it *Object) int64 {
	if sh := s.shares[it]; sh != nil && sh.host != it {
		return it.cost() - sh.bytes
	}
	return it.cost()
}

// validator tells whether two responses of a URL may have the same content (RFC 9110 section 8.8): the entity tag, or
// the date where there is none.
type validator struct {
	tag      string
	modified int64
}

func validatorOf(o *Object) validator {
	var room [usualFields]field.Field
	r := rfc9111.RepresentationOf(o.Status(), o.Header().AppendTo(room[:0]), o.ResponseTime())
	if r.ETag != "" || r.LastModified.IsZero() {
		return validator{tag: r.ETag}
	}
	return validator{modified: r.LastModified.Unix()}
}

// usualFields is how many fields of a header fit on the stack.
const usualFields = 24

// twinLocked returns another variant of o's URL with the same validator and the same content, nil if there is none
// among the newest. It compares one content at most: a validator that two different contents have proves nothing.
func (s *Store) twinLocked(o *Object) *Object {
	slot := s.index.peek(o.URL())
	size := o.Content().Size()
	if slot == nil || !o.Varies() || size == 0 {
		return nil
	}
	v := validatorOf(o)
	if v == (validator{}) {
		return nil
	}
	r := slot.value
	for _, k := range r.keys[max(0, len(r.keys)-mostCompared):] {
		if k == o.key {
			continue
		}
		it := s.ofURLLocked(k, r.name)
		if it == nil || it.Content().Size() != size || validatorOf(it) != v {
			continue
		}
		if it.Content().same(o.Content()) {
			return it
		}
		return nil
	}
	return nil
}

// settleRoomLocked makes room for it, which is about to land, so that nothing has to move once it has landed. It
// returns what is to land: it, or a guest with the content of its twin if there is one.
func (s *Store) settleRoomLocked(it *Object) (o *Object, shared bool) {
	for {
		s.settleLocked()
		s.handOverLocked(it.key)
		host, cost := s.twinLocked(it), it.cost()
		if host != nil {
			cost = it.weight().head
		}
		if len(s.orphans) == 0 && !s.windowFullLocked(cost) {
			if host == nil {
				return it, false
			}
			return s.addGuestLocked(it, host), true
		}
		s.makeRoomLocked(cost)
	}
}

// addGuestLocked returns it, which is about to land, as a guest of the content of other.
func (s *Store) addGuestLocked(it, other *Object) (guest *Object) {
	other = s.main.blocks.unpack(other)
	c := other.Content()
	sh := s.shares[other]
	if sh == nil {
		sh = &share{bytes: c.cost(), host: other}
		s.shares[other] = sh
	}
	guest = it.withContent(c, other.Pin())
	s.shares[guest] = sh
	sh.guests = append(sh.guests, guest)
	return guest
}

// handOverLocked makes a guest the host of the body of the entry under k, which is about to be replaced.
func (s *Store) handOverLocked(k Key) {
	if len(s.shares) == 0 {
		return
	}
	if old := s.heldLocked(k); old != nil {
		if sh := s.shares[old]; sh != nil && sh.host == old {
			s.newHostLocked(sh)
		}
	}
}

// leftLocked counts the departure of it, which landed at that cost. Ristretto's worker calls it as well, while the
// writer waits for it.
func (s *Store) leftLocked(why departure, it *Object, cost int64) {
	s.books.left(why, it, cost)
	sh := s.shares[it]
	switch {
	case sh == nil:
	case sh.host == it:
		delete(s.shares, it)
		sh.host = nil
		s.books.bytes.Add(sh.bytes) // until a guest has replaced it
		s.orphans = append(s.orphans, sh)
	default:
		s.partLocked(sh, it)
	}
}

// partLocked removes it from the guests. A host without guests is an entry like any other.
func (s *Store) partLocked(sh *share, it *Object) {
	delete(s.shares, it)
	sh.guests = slices.DeleteFunc(sh.guests, func(other *Object) bool { return other == it })
	if len(sh.guests) == 0 {
		delete(s.shares, sh.host)
	}
}

// settleLocked finds a host for each orphan.
func (s *Store) settleLocked() {
	for len(s.orphans) > 0 {
		sh := s.orphans[0]
		s.orphans = s.orphans[1:]
		if sh.host == nil {
			s.newHostLocked(sh)
		}
	}
	s.orphans = nil
}

// newHostLocked makes a guest of sh the host, if one is left once there is room.
func (s *Store) newHostLocked(sh *share) {
	for len(sh.guests) > 0 {
		heir := sh.guests[0]
		cost := heir.cost()
		if s.windowFullLocked(cost) {
			s.moveOldestLocked(cost)
			continue
		}
		if sh.host != nil { // the old host still counts the body, and the new one does from now on
			s.books.bytes.Add(sh.bytes)
			delete(s.shares, sh.host)
		}
		next := heir.clone()
		next.copyMarks(heir)
		s.books.addRef(next)
		s.inherited.Add(1) // before the guest moves
		if _, slot := s.window.put(next.key, next, cost); slot == nil {
			s.main.remove(heir)
		}
		s.books.dropRef(heir)
		sh.host, s.shares[next] = next, sh
		s.partLocked(sh, heir)
		return
	}
	if sh.host == nil { // all have left
		s.books.bytes.Add(-sh.bytes)
		sh.bytes = 0
	}
}

// takeOverLocked puts it, which replaces old and has the same body, in old's place in a share.
func (s *Store) takeOverLocked(it, old *Object) {
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
