package cache

import "bytes"

// Outcome is what became of a Put.
type Outcome uint8

// The outcomes.
const (
	Stored   Outcome = iota + 1
	TooLarge         // see Fits; what was stored before stays
	Purged           // unless said so; nothing was changed
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
	}
	return "unknown"
}

// Put stores e in place of what its URL had stored under the same key. When it
// returns Stored, Get finds e at once.
//
// A response with other Vary names than the stored ones, or with none, replaces
// all that its URL has stored: the latest response says how the URL varies.
//
// Unless, if not nil, is asked once whether e was purged while it was fetched.
// No write to the cache happens between its answer and the landing of e, so a
// caller that notes a purge first and calls Purge then never finds a purged
// response stored. It must return quickly and not call the Store.
func (s *Store) Put(e *Entry, unless func() bool) Outcome {
	if !s.Fits(int64(len(e.Body)), e) {
		return TooLarge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if unless != nil && unless() {
		return Purged
	}
	s.makeRoomLocked(e.Cost())
	if len(e.Vary) == 0 {
		s.forgetLocked(e.URL, e.urlName(), replaced)
	} else {
		s.removeLocked(e.URL, e.urlName(), replaced)
		s.fileLocked(e)
	}
	s.landLocked(e)
	return Stored
}

// Purge removes what is stored for the URL whose key part is name and whose
// hash is url, with all variants, and returns how many entries that were.
func (s *Store) Purge(url Key, name []byte) (objects int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removeLocked(url, name, purged) {
		objects++
	}
	return objects + s.forgetLocked(url, name, purged)
}

// makeRoomLocked moves the oldest entries of the window to the main part until
// cost more bytes fit, which at most the window's budget may be.
//
// An entry that moves stays findable in the window until main has it, and its bytes
// count there until then. So window and main keep to their budgets at every
// moment, and with them the sum.
func (s *Store) makeRoomLocked(cost int64) {
	for s.window.bytes.Load()+cost > s.limits.windowBytes {
		victim := s.window.oldest()
		s.main.offer(victim.value)
		s.window.remove(victim)
	}
}

// landLocked puts e into the window. An older entry under its Key leaves after
// e is there, so that a look-up always finds one of them.
func (s *Store) landLocked(e *Entry) {
	cost := e.Cost()
	s.books.landed(cost, int64(len(e.Body)))
	if _, old := s.window.put(e.Key, e, cost); old != nil {
		s.books.left(replaced, old.bytes)
	}
	if old := s.main.find(e.Key); old != nil {
		s.main.remove(old)
		s.books.left(replaced, old.Cost())
	}
}

// removeLocked removes the entry under k if it belongs to the URL called name.
func (s *Store) removeLocked(k Key, name []byte, why departure) bool {
	if slot := s.window.peek(k); slot != nil {
		if !bytes.Equal(slot.value.urlName(), name) {
			return false
		}
		s.window.remove(slot)
		s.books.left(why, slot.bytes)
		return true
	}
	e := s.main.find(k)
	if e == nil || !bytes.Equal(e.urlName(), name) {
		return false
	}
	s.main.remove(e)
	s.books.left(why, e.Cost())
	return true
}
