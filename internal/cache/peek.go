package cache

import "bytes"

// Place is where Peek found something.
type Place uint8

// The places.
const (
	Nowhere Place = iota
	InMain        // the memory tier
	InStage       // held back by admission
	OnDisk        // on the disk, and not in memory
)

// String returns the tier as in metrics; "" for Nowhere.
func (p Place) String() string { return [...]string{"", "memory", "stage", "disk"}[p] }

// Peek looks for the entry stored under name, whose hash is k, in memory and then on the disk. It is no sign of demand
// and does not affect eviction, so it is for diagnosis. It may wait for the device, and scans the objects of the memory
// tier if one of them may match: do not call it to serve a request. The caller passes o to Release.
func (s *Store) Peek(k Key, name []byte) (o *Object, in Place) {
	o, in = s.peekMemory(k)
	switch {
	case o != nil && bytes.Equal(o.Name(), name):
		return o, in
	case s.disk == nil:
		return nil, Nowhere
	}
	return s.peekDisk(k, name)
}

// PeekVary is Vary, and then LoadVary, without side effects. It may wait for the device.
func (s *Store) PeekVary(url Key, name []byte) (l Lists) {
	if slot := s.stage.urls.peek(url); slot != nil && bytes.Equal(slot.value.name, name) {
		l.staged = slot.value.all()
	}
	if slot := s.index.peek(url); slot != nil && bytes.Equal(slot.value.name, name) {
		if l.held = slot.value.all(); covers(l.held, l.staged) {
			l.staged = nil
		}
	}
	if s.disk == nil || l.held != nil {
		return l
	}
	e, _ := s.disk.peekMarker(s.disk.markerHash(name), markerName(name))
	if e == nil {
		e, _ = s.disk.peekMarker(s.disk.hash(name), name) // of an earlier version
	}
	if e != nil && e.Key == url {
		l.held = listsIn(e)
	}
	return l
}

// peekMemory searches in the order of Find.
func (s *Store) peekMemory(k Key) (*Object, Place) {
	if slot := s.window.peek(k); slot != nil {
		return slot.value, InMain
	}
	if o := s.main.peek(k); o != nil {
		return o, InMain
	}
	if slot := s.stage.items.peek(k); slot != nil {
		return slot.value, InStage
	}
	if slot := s.window.peek(k); slot != nil { // moved since the first look
		return slot.value, InMain
	}
	return nil, Nowhere
}

// peekDisk is Load without side effects.
func (s *Store) peekDisk(k Key, name []byte) (*Object, Place) {
	h, f := s.disk.hash(name), new(onDisk)
	if !s.disk.Peek(h, name, &f.hit) {
		return nil, Nowhere
	}
	e := s.disk.entryOf(f.hit.Block)
	if e == nil || e.Key != k || e.isMarker() {
		f.hit.Close()
		return nil, Nowhere
	}
	if f.hit.Patched {
		e = patched(e, f.hit.Patch)
	}
	head := newObject(e, false)
	if slot := s.renewed.peek(k); slot != nil && slot.value.of == e.Serial && bytes.Equal(slot.value.head.Name(), name) {
		head = slot.value.head
	}
	return f.object(head), OnDisk
}
