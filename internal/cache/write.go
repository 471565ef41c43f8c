package cache

import (
	"bytes"

	"edgeproxy/internal/pinned"
)

// Outcome is what became of a Put or PutStage.
type Outcome uint8

// The outcomes.
const (
	Stored     Outcome = iota + 1
	TooLarge           // see Takes and PutStage; what was stored before stays
	Purged             // unless said so; nothing was changed
	Superseded         // of PutStage: what admission let in stands in its place; nothing was changed
	Joined             // of Put: stored, with the content that another variant has already instead of its own
)

// String returns the word for the outcome.
func (o Outcome) String() string {
	switch o {
	case Stored:
		return "stored"
	case TooLarge:
		return "too-large"
	case Purged:
		return "purged"
	case Superseded:
		return "superseded"
	case Joined:
		return "joined"
	}
	return "unknown"
}

// Takes reports whether an entry with the head of e (all but its content) and content of
// bytes is small enough to be stored, if admission lets it in or, without admitted, holds it
// back. Nil stands for a head of usual size, key and header together under 64 KiB; of what is
// held back for none at all. Without a stage nothing is taken that is held back.
func (s *Store) Takes(bytes int64, e *Entry, admitted bool) bool {
	if bytes > s.limits.maxObjectBytes {
		if s.medium == nil || bytes > s.medium.Largest() {
			return false
		}
		bytes = 0 // it counts with its head alone
	}
	if e == nil {
		e = &Entry{}
	}
	if e.Cost()-e.Content.cost()+bytes > s.limits.windowBytes || len(e.Vary) > 0 && recordBytes(e)+variantBytes > s.limits.indexBytes {
		return false
	}
	return admitted || stageCost(e)-e.Content.cost()+bytes <= s.limits.stageBytes
}

// Put stores e in the memory tier, in place of what its URL had stored under the
// same key, staged or not. When it returns Stored or Joined, Find finds it there at once.
// It copies e, but not what e refers to: see Entry.
//
// A response with other Vary names than the stored ones, or with none, replaces
// all that its URL has stored: the latest response says how the URL varies.
//
// Unless, if not nil, is asked once whether e was purged while it was fetched.
// No write to the cache happens between its answer and the landing of e, so a
// caller that notes a purge first and calls Purge then never finds a purged
// response stored. It must return quickly and not call the Store.
func (s *Store) Put(e *Entry, unless func() bool) Outcome {
	if !s.Takes(e.Content.Size(), e, true) {
		return TooLarge
	}
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return Purged
	}
	if s.storeLocked(e, replaced) {
		return Joined
	}
	return Stored
}

// Renew puts e in the place of an entry with its Key, Name and Body, which the
// origin has confirmed (RFC 9111 section 4.3.4). Nothing is written: no tier counts
// it, and the entry keeps its mark of having been asked for. It reports false, and
// changes nothing, if the memory tier no longer holds such an entry or e does not
// fit. Unless is asked as in Put; a true from it makes Renew report true as well,
// for nothing is left to do.
func (s *Store) Renew(e *Entry, serial uint64, unless func() bool) bool {
	if !s.Takes(e.Content.Size(), e, true) {
		return false
	}
	it, ok := s.renew(e, serial, unless)
	if it != nil {
		it.Content.update(&it.Entry)
	}
	return ok
}

// renew is Renew but for the File, and returns what stands in the place of the entry now.
func (s *Store) renew(e *Entry, serial uint64, unless func() bool) (it *item, ok bool) {
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return nil, true
	}
	s.makeRoomLocked(e.Cost())
	old := s.heldLocked(e.Key) // after the move, which may have cost it its place
	if old == nil || old.Serial != serial || !bytes.Equal(old.Name, e.Name) {
		return nil, false
	}
	it = &item{Entry: *e}
	it.Pin = old.Pin // of the same Body
	it.asked.Store(old.asked.Load())
	it.uses.Store(old.uses.Load())
	s.swapLocked(it, old)
	return it, true
}

// swapLocked puts it into the window and takes old out, where it is, without
// booking more than the difference of their sizes.
func (s *Store) swapLocked(it, old *item) {
	was := s.costLocked(old)
	s.takeOverLocked(it, old)
	cost := s.costLocked(it)
	s.books.hold(it)
	s.books.bytes.Add(cost)
	if _, slot := s.window.put(it.Key, it, cost); slot == nil {
		s.main.remove(old)
	}
	s.books.bytes.Add(-was)
	s.books.letGo(old)
}

// Purge removes what is stored for the URL whose key part is name and whose
// hash is url, with all variants, from both tiers, and returns how many entries
// that were.
func (s *Store) Purge(url Key, name []byte) (objects int) {
	s.mu.Lock()
	defer s.unlock()
	if s.removeLocked(url, name, purged) {
		objects++
	}
	if s.stage.remove(url, name, purged) {
		objects++
	}
	return objects + s.forgetLocked(url, name, purged) + s.stage.forget(url, name, purged)
}

// Discard removes e, which a look-up has returned and which is of no use any more: a purge has
// reached it, or its content cannot be read. It reports false if it is not held any more: what
// has taken its place is no concern of the caller's. A copy with the same Serial is e as well.
func (s *Store) Discard(e *Entry) bool {
	is := func(it *item) bool { return &it.Entry == e || e.Serial != 0 && it.Serial == e.Serial }
	s.mu.Lock()
	defer s.unlock()
	if it := s.heldLocked(e.Key); it != nil && is(it) {
		s.leaveLocked(it, purged)
		return true
	}
	if slot := s.stage.items.peek(e.Key); slot != nil && is(slot.value) {
		s.stage.leave(slot, purged)
		return true
	}
	return false
}

// storeLocked lands e in the memory tier. What was staged under its Key leaves
// then, for the reason why.
//
// Entries that make room for e leave before it lands, so that nothing has to move
// afterwards. It reports whether e has the body of a twin now.
func (s *Store) storeLocked(e *Entry, why departure) (shared bool) {
	s.clearLocked(e)
	if len(e.Vary) > 0 {
		s.fileLocked(e)
	}
	it := s.newItem(e)
	shared = s.settleRoomLocked(it)
	s.landLocked(it)
	if staged := s.stage.items.peek(e.Key); staged != nil {
		s.stage.leave(staged, why)
	}
	return shared
}

// newItem copies e, and gives content in memory above pinned.Least a Pin.
func (s *Store) newItem(e *Entry) *item {
	it := &item{Entry: *e}
	switch {
	case it.Content.Size() <= pinned.Least, it.Content.kept != nil:
		it.Pin = nil
	case it.Pin == nil:
		it.Pin = s.pinned.Body()
	}
	return it
}

// clearLocked removes from both tiers what cannot stand beside e at its URL: the
// response without Vary beside variants, and variants by other fields. What is
// under the Key of e stays until e has landed.
func (s *Store) clearLocked(e *Entry) {
	name := e.urlName()
	if len(e.Vary) == 0 {
		s.forgetLocked(e.URL, name, replaced)
		s.stage.forget(e.URL, name, replaced)
		return
	}
	s.removeLocked(e.URL, name, replaced)
	s.stage.remove(e.URL, name, replaced)
	if slot := s.index.peek(e.URL); slot != nil && !slot.value.describes(e) {
		s.dropLocked(slot, replaced)
	}
	if slot := s.stage.urls.peek(e.URL); slot != nil && !slot.value.describes(e) {
		s.stage.drop(slot, replaced)
	}
}

// makeRoomLocked moves the oldest entries of the window to the main part until
// cost more bytes fit, which at most the window's budget may be.
//
// An entry that moves stays findable in the window until main has it, and its bytes
// count there until then. So window and main keep to their budgets at every
// moment, and with them the sum.
func (s *Store) makeRoomLocked(cost int64) {
	for s.settleLocked(); s.window.bytes.Load()+cost > s.limits.windowBytes; s.settleLocked() {
		s.moveOldestLocked()
	}
}

func (s *Store) moveOldestLocked() {
	victim := s.window.oldest()
	s.main.offer(victim.value)
	s.window.remove(victim)
}

// unlock lets the next writer in, and then removes the files that this one has left over.
func (s *Store) unlock() {
	s.settleLocked()
	files := s.leftovers.files
	s.leftovers.files = nil
	s.mu.Unlock()
	for _, f := range files {
		f.Remove()
	}
}

// landLocked puts it into the window. An older entry under its Key leaves after
// it is there, so that a look-up always finds one of them. Uses go on counting, for
// the variant is the same.
func (s *Store) landLocked(it *item) {
	cost := s.costLocked(it)
	s.books.landed(it, cost, s.broughtLocked(it))
	if _, old := s.window.put(it.Key, it, cost); old != nil {
		it.uses.Add(old.value.uses.Load())
		s.leftLocked(replaced, old.value, old.bytes)
	}
	if old := s.main.find(it.Key); old != nil {
		it.uses.Add(old.uses.Load())
		s.main.remove(old)
		s.leftLocked(replaced, old, s.costLocked(old))
	}
}

// broughtLocked returns how many bytes of content it brings along that no twin has.
func (s *Store) broughtLocked(it *item) int64 {
	if sh := s.shares[it]; sh != nil && sh.host != it {
		return 0
	}
	return it.Content.Size()
}

// heldLocked returns what the memory tier holds under k, nil if nothing.
func (s *Store) heldLocked(k Key) *item {
	if slot := s.window.peek(k); slot != nil {
		return slot.value
	}
	return s.main.find(k)
}

// removeLocked removes the entry under k from the memory tier if it belongs to
// the URL called name.
func (s *Store) removeLocked(k Key, name []byte, why departure) bool {
	it := s.ofURLLocked(k, name)
	if it == nil {
		return false
	}
	s.leaveLocked(it, why)
	return true
}

// ofURLLocked returns what the memory tier holds under k if it belongs to the
// URL called name, else nil.
func (s *Store) ofURLLocked(k Key, name []byte) *item {
	it := s.heldLocked(k)
	if it == nil || !bytes.Equal(it.urlName(), name) {
		return nil
	}
	return it
}

// leaveLocked takes out it, which heldLocked has just returned.
func (s *Store) leaveLocked(it *item, why departure) {
	if slot := s.window.peek(it.Key); slot != nil {
		s.window.remove(slot)
	} else {
		s.main.remove(it)
	}
	s.leftLocked(why, it, s.costLocked(it))
}
