package cache

import "bytes"

// renewal is the head that a 304 has made of a record on the disk. The record itself does not change. Load returns the
// record with the head of the renewal while memory has it.
type renewal struct {
	head *Object
	of   uint64 // the Serial of the record
}

const renewalOverhead = 64

// noteRenewalLocked keeps e as the renewal of the disk's record under its name, if the record has this serial, or was
// renewed and its renewal has it. It reports whether there may be such a record.
func (s *Store) noteRenewalLocked(e *Entry, serial uint64) bool {
	if s.disk == nil || !s.OnDisk(e.Name) {
		return false
	}
	head := *e
	head.Content, head.Pin = Content{}, nil
	r := &renewal{head: newObject(&head, false), of: serial}
	if slot := s.renewed.peek(e.Key); slot != nil && slot.value.head.serial == serial {
		r.of = slot.value.of
	}
	cost := r.head.cost() + renewalOverhead
	if cost > s.limits.renewedBytes {
		return false
	}
	if slot := s.renewed.peek(e.Key); slot != nil {
		s.renewed.remove(slot)
	}
	for s.renewed.bytes.Load()+cost > s.limits.renewedBytes {
		s.renewed.remove(s.renewed.oldest())
	}
	s.renewed.put(e.Key, r, cost)
	return true
}

// renewedOf returns the head of the renewal of the disk's record with this Serial under name, whose hash is k; nil if
// there is none.
func (s *Store) renewedOf(k Key, serial uint64, name []byte) *Object {
	r, ok := s.renewed.find(k)
	if !ok || r.of != serial || !bytes.Equal(r.head.Name(), name) {
		return nil
	}
	return r.head
}

// headOf returns e, a record on the disk, with this content. If the record was renewed, it has the head of the renewal.
func (s *Store) headOf(e *Entry, c Content) *Object {
	if head := s.renewedOf(e.Key, e.Serial, e.Name); head != nil {
		return head.withContent(c, nil)
	}
	e.Content = c
	return newObject(e, false)
}

// Renew replaces an entry with the Key, Name and Body of e that the origin has validated (RFC 9111 section 4.3.4). No
// tier counts this as a write, and e inherits the mark of having been asked for. It reports false, and changes nothing,
// if the memory tier no longer holds such an entry or e does not fit. Unless is asked as in Put. If it returns true,
// Renew reports true as well, for nothing is left to do.
func (s *Store) Renew(e *Entry, serial uint64, unless func() bool) bool {
	if !s.Takes(e.Content.Size(), e, true) {
		return false
	}
	ok := s.renew(e, serial, unless)
	if r, found := s.renewed.find(e.Key); found && r.head.serial == e.Serial {
		s.patchDisk(e, r.of)
	}
	return ok
}

// renew is Renew without the patch of the record on the disk.
func (s *Store) renew(e *Entry, serial uint64, unless func() bool) bool {
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return true
	}
	onDisk := s.noteRenewalLocked(e, serial)
	s.extendLocked(e)
	if s.heldLocked(e.Key) == nil {
		return onDisk
	}
	s.makeRoomLocked(e.Cost())
	old := s.heldLocked(e.Key) // again: making room may have evicted it
	if old == nil || old.serial != serial || !bytes.Equal(old.Name(), e.Name) {
		return onDisk
	}
	s.swapLocked(s.inPlaceLocked(e, old), old)
	return true
}

// extendLocked notes how long the list of e, which is a renewal, is of use.
func (s *Store) extendLocked(e *Entry) {
	slot := s.index.peek(e.URL)
	if len(e.Vary) == 0 || slot == nil {
		return
	}
	if i := listOf(slot.value.all(), e.Vary); i >= 0 {
		slot.value.extend(i, usefulUntil(e.ResponseTime, e.InitialAge, e.Policy))
	}
}

// swapLocked puts it into the window and removes old from its place. It counts only the difference of their sizes.
func (s *Store) swapLocked(it, old *Object) {
	was := s.costLocked(old)
	s.takeOverLocked(it, old)
	cost := s.costLocked(it)
	s.books.addRef(it)
	s.books.bytes.Add(cost)
	if _, slot := s.window.put(it.key, it, cost); slot == nil {
		s.main.remove(old)
	} else {
		s.main.blocks.leftWindow(old)
	}
	s.books.bytes.Add(-was)
	s.books.dropRef(old)
}
