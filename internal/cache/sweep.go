package cache

// Each calls visit with everything that is held in either tier all the while, with some
// twice, and with others that come or go meanwhile. It begins behind every write that is
// under way, and holds up neither look-ups nor, but for moments, writes. Visit must be quick
// and not call the Store.
//
// An entry moves from the stage to the window and from there to the main part, and is in its
// new place before it leaves the old one: so a walk in that order misses none. What stands
// in for a stored entry, a replacement or a renewal, was asked about by its writer. But who inherits a body
// goes the other way, into the window, and nobody has asked about it: where that has happened, the walk begins again there.
func (s *Store) Each(visit func(*Object)) {
	// A writer that was asking whether its entry is purged has stored it by now.
	s.mu.Lock()
	s.mu.Unlock() //nolint:staticcheck // the wait is all that is wanted
	s.stage.items.each(visit)
	for {
		inherited := s.inherited.Load()
		s.window.each(visit)
		s.main.each(s.books.objects.Load(), visit)
		if s.inherited.Load() == inherited {
			return
		}
	}
}

// Revise has revise look at what is held under k, in each tier. It returns the entry that it
// was given, unchanged, to leave that as it is, nil to have it forgotten, or another to stand in its
// place: a copy with the same Key, Name, Header and Body that has become stale. In the stage
// that is forgotten as well, for what is stale is of no use there. Nothing is written: no
// tier counts it. Revise must be quick and not call the Store; no write happens meanwhile.
func (s *Store) Revise(k Key, revise func(*Entry) *Entry) {
	if o := s.revise(k, revise); o != nil {
		o.tellFile()
	}
}

// revise is Revise but for the File, and returns what stands in the place of an entry now.
func (s *Store) revise(k Key, revise func(*Entry) *Entry) *Object {
	s.mu.Lock()
	defer s.unlock()
	if slot := s.stage.items.peek(k); slot != nil {
		if e := slot.value.Entry(); revise(e) != e {
			s.stage.leave(slot, purged)
		}
	}
	it := s.heldLocked(k)
	for it != nil {
		was := it.Entry()
		e := revise(was)
		if e == was {
			return nil
		}
		if e == nil {
			s.leaveLocked(it, purged)
			return nil
		}
		s.makeRoomLocked(e.Cost())
		old := s.heldLocked(k) // the move may have cost it its place, or made it a host
		if old == it {
			next := s.inPlaceLocked(e, it)
			s.swapLocked(next, it)
			return next
		}
		it = old
	}
	return nil
}
