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

// Peek looks for the entry stored under name, whose hash is k, in memory and then on the disk. If responses of this URL
// vary, and nothing is stored under name itself, it returns the names of the fields that select a variant, as Vary
// does. It is no sign of demand and does not affect eviction, so it is for diagnosis. It may wait for the device, and
// scans the objects of the memory tier if one of them may match: do not call it to serve a request. The caller passes o
// to Release.
func (s *Store) Peek(k Key, name []byte) (o *Object, in Place, vary []string) {
	o, in = s.peekMemory(k)
	if o != nil && bytes.Equal(o.Name(), name) {
		return o, in, nil
	}
	if r := s.index.peek(k); r != nil && bytes.Equal(r.value.name, name) {
		return nil, Nowhere, r.value.fields
	}
	if r := s.stage.urls.peek(k); r != nil && bytes.Equal(r.value.name, name) {
		return nil, Nowhere, r.value.fields
	}
	if s.disk == nil {
		return nil, Nowhere, nil
	}
	return s.peekDisk(k, name)
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
func (s *Store) peekDisk(k Key, name []byte) (o *Object, in Place, vary []string) {
	h, f := s.disk.hash(name), new(onDisk)
	if !s.disk.Peek(h, name, &f.hit) {
		return nil, Nowhere, nil
	}
	e := s.disk.entryOf(f.hit.Block)
	switch {
	case e == nil || e.Key != k:
		f.hit.Close()
		return nil, Nowhere, nil
	case e.isMarker():
		f.hit.Close()
		return nil, Nowhere, e.Vary
	}
	if f.hit.Patched {
		e = patched(e, f.hit.Patch)
	}
	head := newObject(e, false)
	if slot := s.renewed.peek(k); slot != nil && slot.value.of == e.Serial && bytes.Equal(slot.value.head.Name(), name) {
		head = slot.value.head
	}
	return f.object(head), OnDisk, nil
}
