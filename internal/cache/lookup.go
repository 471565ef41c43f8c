package cache

import "bytes"

// Find returns the entry stored under name, whose hash is k, nil if there is none. HeldBack says that admission has
// held it back: it may be used, and Promote lets it in. Find keeps neither argument and allocates nothing, except in
// ristretto's sampling: 512 bytes in 64 calls.
//
// While a write of the same key is in progress, look-ups return the old entry or
// the new, in any order; once it has returned, the new one.
//
// Find counts as a hit of the entry, even if the caller finds it stale and does not serve it. The Object stays valid as
// long as the caller holds it. The entry may have left the tier by then: Promote says so.
func (s *Store) Find(k Key, name []byte) (o *Object, heldBack bool) {
	it, heldBack := s.find(k)
	if it == nil || !bytes.Equal(it.Name(), name) {
		return nil, false
	}
	if s.disk != nil && !heldBack {
		s.disk.touch(it)
	}
	if s.ranked != nil && !heldBack { // a staged entry keeps the tick of its arrival
		it.useAt(s.ranked.tick.Load())
	}
	return it.use(), heldBack
}

// find returns the entry under k.
func (s *Store) find(k Key) (it *Object, heldBack bool) {
	for {
		// Main is asked also after a hit: that is how ristretto learns of the demand
		// by which it judges the entry when its time in the window is over.
		it, landed := s.window.find(k)
		if landed && s.ranked != nil {
			return it, false
		}
		m, left := s.lookInMain(k)
		if landed {
			return it, false
		}
		if m != nil {
			return m, false
		}
		it, heldBack, again := s.findElsewhere(k)
		if it != nil || !left && !again {
			return it, heldBack
		}
	}
}

func (s *Store) lookInMain(k Key) (it *Object, left bool) {
	if s.ranked != nil {
		return s.ranked.look(k)
	}
	return s.main.look(k)
}

// findElsewhere looks for an entry that neither window nor main had when they were asked. It may be staged, or it may
// have moved since: from main to the window by a replacement, from the stage to the window by a promotion, and on to
// main. An entry that moves is in its new place before it leaves the old one. So a look at all places in the order of
// the moves misses nothing that stays.
//
// Left says that the entry was in main and left meanwhile: then all places are worth another look.
func (s *Store) findElsewhere(k Key) (it *Object, heldBack, left bool) {
	if it, ok := s.stage.items.find(k); ok {
		return it, true, false
	}
	if it, ok := s.window.find(k); ok {
		return it, false, false
	}
	if s.limits.stageBytes > 0 && s.main.holds(k) {
		it, left = s.main.look(k)
	}
	return it, false, left
}

// MayHold reports whether anything may be stored for the URL whose key part is name and whose hash is url, in any tier.
// It does not wait.
func (s *Store) MayHold(url Key, name []byte) bool {
	return s.Holds(url) || s.OnDisk(name) || s.VariesOnDisk(name)
}

// Holds reports whether Find or Vary would find anything for the URL whose hash is url. Unlike Find, it is no sign of
// demand, so ask it where an answer is unlikely. It may report true because of another URL with the same hash. It
// allocates nothing.
func (s *Store) Holds(url Key) bool {
	switch { // in the order of findElsewhere
	case s.window.peek(url) != nil, s.main.holds(url), s.stage.items.peek(url) != nil, s.window.peek(url) != nil:
		return true
	case s.index.peek(url) != nil, s.stage.urls.peek(url) != nil:
		return true
	case s.limits.stageBytes > 0: // promoted meanwhile, and on
		return s.main.holds(url) || s.index.peek(url) != nil
	}
	return false
}
