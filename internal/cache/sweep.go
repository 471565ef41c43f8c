package cache

// Each calls visit with everything that either tier holds for the whole call, with some entries twice, and with some
// that come or go meanwhile. It begins after every write that is in progress. It blocks no look-up, and blocks writes
// only for moments. Visit must be quick and not call the Store.
//
// An entry moves from the stage to the window and from there to the main part, and is in its new place before it leaves
// the old one. So a walk in that order misses none. The writer of a replacement or a renewal has asked itself whether
// it was purged. But a guest that becomes a host moves the other way, into the window, and nobody has asked about it.
// If that happened, the walk begins again at the window.
func (s *Store) Each(visit func(*Object)) {
	// Wait: a writer that was asking whether its entry is purged has stored it by then.
	s.mu.Lock()
	s.mu.Unlock() //nolint:staticcheck // only to wait
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

// Revise calls revise with what each tier holds under k. Revise returns the entry that it was given, unchanged, to keep
// it; nil to remove it; or another to replace it: a copy with the same Key, Name, Header and Body that has become
// stale. In the stage a replaced entry is removed as well, for a stale one is of no use there. No tier counts this as a
// write. Revise must be quick and not call the Store; no write happens meanwhile.
func (s *Store) Revise(k Key, revise func(*Entry) *Entry) {
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
			return
		}
		if e == nil {
			s.leaveLocked(it, purged)
			return
		}
		s.makeRoomLocked(e.Cost())
		old := s.heldLocked(k) // making room may have evicted it, or made it a host
		if old == it {
			s.swapLocked(s.inPlaceLocked(e, it), it)
			return
		}
		it = old
	}
}
