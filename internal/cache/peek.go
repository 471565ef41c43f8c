package cache

import (
	"bytes"
	"slices"
)

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
		e, _ = s.disk.peekMarker(s.disk.hash(name), name) // an earlier version wrote it
	}
	if e != nil && e.Key == url {
		l.held = listsIn(e)
	}
	return l
}

// Peeked is what PeekVariants has found.
type Peeked struct {
	Object *Object
	In     Place
}

// PeekVariants returns the variants of the URL whose key part is name and whose hash is url, by whichever fields they vary and
// in no order. A variant that is in memory and on the disk is in the list once, as in memory. As Peek it leaves no trace, may
// wait for the device, and scans the memory tier. The caller passes each Object to Release.
func (s *Store) PeekVariants(url Key, name []byte) (all []Peeked) {
	add := func(o *Object, in Place) {
		if o != nil && o.Varies() && o.URL() == url && bytes.Equal(o.URLName(), name) && !amongPeeked(all, o.key) {
			all = append(all, Peeked{o, in})
		} else if o != nil {
			s.Release(o)
		}
	}
	if s.index.peek(url) != nil {
		s.window.each(func(o *Object) { add(o, InMain) })
		s.main.each(s.books.objects.Load(), func(o *Object) { add(o, InMain) })
	}
	if s.stage.urls.peek(url) != nil {
		s.stage.items.each(func(o *Object) { add(o, InStage) })
	}
	for _, v := range s.listedOnDisk(url, name) {
		if !amongPeeked(all, v.key) {
			add(s.peekRecord(v.key, v.hash, nil), OnDisk)
		}
	}
	return all
}

func amongPeeked(all []Peeked, k Key) bool {
	return slices.ContainsFunc(all, func(p Peeked) bool { return p.Object.key == k })
}

// listedOnDisk returns the variants of the URL on the disk that memory or the marker lists. Some may have left.
func (s *Store) listedOnDisk(url Key, name []byte) (all []diskVariant) {
	if s.disk == nil {
		return nil
	}
	if slot := s.index.peek(url); slot != nil {
		s.mu.Lock()
		if v := slot.value.disk; v != nil {
			all = slices.Clone(v.all)
		}
		s.mu.Unlock()
	}
	_, marked := s.disk.peekMarker(s.disk.markerHash(name), markerName(name))
	return append(all, marked...)
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
	if o := s.peekRecord(k, s.disk.hash(name), name); o != nil {
		return o, OnDisk
	}
	return nil, Nowhere
}

// peekRecord returns the object in the record under h, which is that of name, or of any name if that is nil; nil if there is none.
func (s *Store) peekRecord(k Key, h uint64, name []byte) *Object {
	f := new(onDisk)
	if !s.disk.Peek(h, name, &f.hit) {
		return nil
	}
	e := s.disk.entryOf(f.hit.Block)
	if e == nil || e.Key != k || e.isMarker() {
		f.hit.Close()
		return nil
	}
	if f.hit.Patched {
		e = patched(e, f.hit.Patch)
	}
	head := newObject(e, false)
	if slot := s.renewed.peek(k); slot != nil && slot.value.of == e.Serial && bytes.Equal(slot.value.head.Name(), e.Name) {
		head = slot.value.head
	}
	return f.object(head)
}
