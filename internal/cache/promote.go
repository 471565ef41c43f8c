package cache

import (
	"bytes"
	"slices"
)

// PutStage stores e in the stage, for a response that admission held back. The
// next look-up finds it there; it leaves when StageBytes have landed after it,
// unless Promote comes first. Like Put, it copies e, replaces what the URL has
// staged, and asks unless.
//
// It takes nothing out of the memory tier: what admission let in does not give
// way to what it held back. Superseded means that one of the two would have to:
// the memory tier has the same key, or the URL without Vary, or variants of it by
// other fields. Then those stay as they are, fresh or stale, until a Put comes.
// So a caller that has a stale entry renewed must Put the renewal, whatever
// admission says of it, or the stale one stays. TooLarge means that Takes is
// false or, of a variant, that MaxVariants others of its URL are in the memory
// tier.
func (s *Store) PutStage(e *Entry, unless func() bool) Outcome {
	if !s.Takes(e.Content.Size(), e, false) {
		return TooLarge
	}
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return Purged
	}
	if s.supersededLocked(e) {
		return Superseded
	}
	if len(e.Vary) > 0 && !s.limitStagedLocked(e) {
		return TooLarge
	}
	s.stage.makeRoom(stageCost(e), e.Key)
	s.clearLocked(e) // of the memory tier at most a record whose variants are gone
	s.stage.land(s.newItem(e))
	return Stored
}

// supersededLocked reports whether the memory tier holds an entry that cannot stay
// beside e: one under its Key, and whatever clearLocked would remove.
func (s *Store) supersededLocked(e *Entry) bool {
	name := e.urlName()
	if s.heldLocked(e.Key) != nil || s.ofURLLocked(e.URL, name) != nil {
		return true
	}
	slot := s.index.peek(e.URL)
	if slot == nil {
		return false
	}
	r := slot.value
	if len(e.Vary) == 0 && !bytes.Equal(r.name, name) || len(e.Vary) > 0 && r.describes(e) {
		return false
	}
	return slices.ContainsFunc(r.keys, func(k Key) bool { return s.ofURLLocked(k, r.name) != nil })
}

// Promote moves the entry under name, whose hash is k, from the stage to the memory
// tier. That is one write of the memory tier, which starts without a hit: the
// one that called for the promotion was the stage's. It reports false if the
// entry is not staged, or not any more: of simultaneous promotions one counts.
func (s *Store) Promote(k Key, name []byte) bool {
	if _, ok := s.stage.items.find(k); !ok { // spares the late ones the lock
		return false
	}
	it := s.promote(k, name)
	if it == nil {
		return false
	}
	it.Content.update(&it.Entry)
	return true
}

// promote is Promote but for the File, and returns what was staged.
func (s *Store) promote(k Key, name []byte) *item {
	s.mu.Lock()
	defer s.unlock()
	staged := s.stage.items.peek(k)
	if staged == nil || !bytes.Equal(staged.value.Name, name) {
		return nil
	}
	s.storeLocked(&staged.value.Entry, promoted)
	return staged.value
}

// limitStagedLocked makes room for e, which the memory tier does not hold, among the
// variants of its URL at the cost of older staged ones. It changes nothing and reports false if the memory tier alone
// has as many as there may be.
func (s *Store) limitStagedLocked(e *Entry) bool {
	held := 0
	if slot := s.index.peek(e.URL); slot != nil && slot.value.describes(e) {
		s.strikeLocked(slot, func(k Key) bool { return s.heldLocked(k) == nil })
		held = len(slot.value.keys)
	}
	if held >= s.limits.maxVariants {
		return false
	}
	s.limitRivalsLocked(e, s.limits.maxVariants-held-1)
	return true
}

// limitRivalsLocked evicts the oldest staged variants beside e until at most most
// are left.
func (s *Store) limitRivalsLocked(e *Entry, most int) {
	rivals := s.stage.rivals(e)
	for _, k := range rivals[:max(len(rivals)-max(most, 0), 0)] {
		s.stage.leave(s.stage.items.peek(k), variants)
	}
}
