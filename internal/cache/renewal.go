package cache

import "bytes"

// renewal is what a 304 has made of a record on the disk: all but its content. The record stays as it is there. Load gives it with the head
// of the renewal, as long as memory has that.
type renewal struct {
	head *Object
	of   uint64 // the Serial of the record
}

const renewalOverhead = 64

// noteRenewalLocked remembers e, which stands for what is on the disk under its name, if that has this serial, or was
// renewed and has it since. It reports whether something may be there.
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

// renewedOf returns the head that stands for that of the record with this Serial, which is on the disk under name, whose hash is k; nil if none does.
func (s *Store) renewedOf(k Key, serial uint64, name []byte) *Object {
	r, ok := s.renewed.find(k)
	if !ok || r.of != serial || !bytes.Equal(r.head.Name(), name) {
		return nil
	}
	return r.head
}

// headOf returns e, a record on the disk, or what a 304 has made of it, with this content.
func (s *Store) headOf(e *Entry, c Content) *Object {
	if head := s.renewedOf(e.Key, e.Serial, e.Name); head != nil {
		return head.with(c, nil)
	}
	e.Content = c
	return newObject(e, false)
}
