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
