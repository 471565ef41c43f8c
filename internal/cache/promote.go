package cache

import (
	"bytes"
	"slices"
)

// PutStage stores e in the stage, for a response that admission held back. The next look-up finds it there. It leaves
// when StageBytes have landed after it, unless Promote comes first. Like Put, it copies e, replaces what the URL has
// staged, and asks unless.
//
// It removes nothing from the memory tier: an admitted response does not give way to one that was held back. Superseded
// means that one of the two would have to: the memory tier or the disk has the same key. That stays as it is, fresh or
// stale, until a Put comes. So a caller that has a stale entry renewed must Put the renewal, whatever admission says of
// it, or the stale one stays. TooLarge means that Takes is false or, of a variant, that MaxVariants others of its URL
// are in the memory tier.
func (s *Store) PutStage(e *Entry, unless func() bool) Outcome {
	if !s.Takes(e.Content.Size(), e, false) {
		return TooLarge
	}
	o := s.object(e)
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return Purged
	}
	if s.supersededLocked(o) || s.disk != nil && s.supersededOnDiskLocked(o) {
		return Superseded
	}
	if o.Varies() && !s.takesStagedListLocked(o) {
		return VaryLimit
	}
	if o.Varies() && !s.limitStagedLocked(o) {
		return TooLarge
	}
	if s.ranked != nil {
		o.used.Store(s.ranked.tick.Load())
	}
	s.stage.makeRoom(o.weight().staged(), o.key)
	s.clearLocked(o) // the memory tier has at most a record whose variants are gone
	s.stage.land(o)
	return Stored
}

// supersededLocked reports whether the memory tier holds an entry that cannot coexist with o: one under its Key, or one
// that clearLocked would remove.
func (s *Store) supersededLocked(o *Object) bool {
	if s.heldLocked(o.key) != nil {
		return true
	}
	r := s.rivalOfLocked(o)
	return r != nil && slices.ContainsFunc(r.keys, func(k Key) bool { return s.ofURLLocked(k, r.name) != nil })
}

// supersededOnDiskLocked is supersededLocked for the disk, as far as memory knows the disk's records.
func (s *Store) supersededOnDiskLocked(o *Object) bool {
	if s.OnDisk(o.Name()) {
		return true
	}
	r := s.rivalOfLocked(o)
	return r != nil && slices.ContainsFunc(r.disk.all, func(one diskVariant) bool { return s.disk.Holds(one.hash) })
}

// rivalOfLocked returns the record that has the place of o's in the index, because its URL has the same hash; nil if
// there is none.
func (s *Store) rivalOfLocked(o *Object) *record {
	slot := s.index.peek(o.URL())
	if slot == nil || !o.Varies() || slot.value.isOf(o) {
		return nil
	}
	return slot.value
}

// takesStagedListLocked reports whether a look-up could find the variant o by its list, staged and when it is promoted.
// Lists that no staged variant of the URL has any more make room.
func (s *Store) takesStagedListLocked(o *Object) bool {
	names := o.Vary()
	if slot := s.index.peek(o.URL()); slot != nil && slot.value.isOf(o) && listOf(slot.value.all(), names) < 0 && !s.listFits(slot, names) {
		return false
	}
	slot := s.stage.urls.peek(o.URL())
	if slot == nil || !slot.value.isOf(o) || slot.value.has(o) || fits(slot.value.all(), names) {
		return len(names) <= mostNames
	}
	s.stage.tidy(slot.value)
	return fits(slot.value.all(), names)
}

// Promote moves the entry under name, whose hash is k, from the stage to the memory tier, or to the disk if there is
// one. That is one write there. The entry starts without a hit: the look-up that led to the promotion was a hit of the
// stage. Promote reports false if the entry is not staged, or no longer staged: of simultaneous promotions one counts. It also does
// so if the entry competes and is outweighed. Then it stays in the stage. For times see Outweighed.
func (s *Store) Promote(k Key, name []byte, times int) bool {
	staged, ok := s.stage.items.find(k)
	if !ok { // so that late callers do not take the lock
		return false
	}
	if s.disk != nil && bytes.Equal(staged.Name(), name) {
		if moved, done := s.promoteToDisk(staged); done {
			return moved
		}
	}
	s.mu.Lock()
	defer s.unlock()
	slot := s.stage.items.peek(k) // again: it may have left
	if slot == nil || !bytes.Equal(slot.value.Name(), name) || !s.takesListOfLocked(slot.value) {
		return false
	}
	if s.outweighedLocked(slot.value.key, slot.value.cost(), times) {
		return false
	}
	s.storeLocked(arrival{Object: slot.value, lent: true}, promoted)
	return true
}

// limitStagedLocked makes room for o, which the memory tier does not hold, among the variants of its URL. It evicts
// older staged variants. It reports false, and evicts nothing, if the memory tier alone has MaxVariants of them.
func (s *Store) limitStagedLocked(o *Object) bool {
	held := 0
	if slot := s.index.peek(o.URL()); slot != nil && slot.value.isOf(o) {
		s.strikeLocked(slot, func(k Key) bool { return s.heldLocked(k) == nil })
		held = len(slot.value.keys)
	}
	if held >= s.limits.maxVariants {
		return false
	}
	s.limitRivalsLocked(o, s.limits.maxVariants-held-1)
	return true
}

// limitRivalsLocked evicts the oldest staged variants of o's URL, except o, until at most most are left.
func (s *Store) limitRivalsLocked(o *Object, most int) {
	rivals := s.stage.rivals(o)
	for _, k := range rivals[:max(len(rivals)-max(most, 0), 0)] {
		s.stage.leave(s.stage.items.peek(k), variants)
	}
}
