package cache

import (
	"bytes"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/cache/disk"
)

// This file stores admitted responses on the Disk. What memory had under the key leaves. Only while the disk is out of
// use are they stored in memory.

// written is a response on its way to the disk.
type written struct {
	head        *Object   // its key, names and times; valid until free
	room        *[]uint64 // the scratch block of head; nil: none
	name, block []byte    // the record's, which the disk keeps
	body        []byte
	buffer      *buffer.Buffer // the Buffer that has body; nil: there is none
	hash        uint64
	markerHash  uint64 // with Vary: of the marker that goes with it
}

// write returns e in the form that is written; an error if e cannot be written. Its content must lie in memory.
func (d *diskTier) write(e *Entry) (w written, err error) {
	body, ok := e.Content.Bytes()
	if !ok {
		return w, disk.ErrTooLarge
	}
	w, err = d.headed(e)
	w.body = body
	return w, err
}

// headed is write without the content.
func (d *diskTier) headed(e *Entry) (w written, err error) {
	if w.name, w.block, err = d.nameAndBlock(e); err != nil {
		return w, err
	}
	head := *e
	head.Content, head.Pin, head.Header, head.Tags = Content{}, nil, nil, nil
	if len(e.Vary) > 0 { // the index may keep its names
		w.head = newObject(&head, true)
	} else {
		w.room = scratchBlocks.Get().(*[]uint64)
		w.head = newObjectIn(&head, true, *w.room)
	}
	w.hash = d.hash(w.name)
	if w.head.Varies() {
		w.markerHash = d.markerHash(w.head.URLName())
	}
	return w, nil
}

// free gives back what w has borrowed.
func (w *written) free() {
	if w.room != nil {
		scratchBlocks.Put(w.room)
	}
}

// putOnDisk is Put for a Store with a Disk, and tells whether the disk has the content of e now. If the disk is out of
// use, e lands in memory by the same answer of unless. If b is not nil, the content is that of b.
func (s *Store) putOnDisk(e *Entry, b *buffer.Buffer, unless func() bool) (o Outcome, onDisk bool) {
	w, err := s.disk.write(e)
	defer w.free()
	if err != nil {
		return outcomeOf(err), false
	}
	w.buffer = b
	s.loadVariantList(&w)
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return Purged, false
	}
	if !s.takesListOfLocked(w.head) {
		return VaryLimit, false
	}
	if err := s.writeLocked(&w); err != nil {
		return s.refusedLocked(e, err), false
	}
	s.dropReplacedLocked(&w, replaced)
	return Stored, true
}

// refusedLocked handles a refusal of e by the disk, which has no record of its key any more. While the disk is out of
// use, e goes to memory. Otherwise it goes there only if memory has a copy under the key: then the key is in demand.
func (s *Store) refusedLocked(e *Entry, err error) Outcome {
	o := outcomeOf(err)
	fits := e.Content.cost() <= s.limits.maxObjectBytes // else only the disk takes it
	it := s.heldLocked(e.Key)
	inDemand := it != nil && bytes.Equal(it.Name(), e.Name)
	switch {
	case o == 0 && !fits:
		return TooLarge
	case o == 0, inDemand && fits:
	case inDemand:
		s.leaveLocked(it, replaced)
		return o
	default:
		return o
	}
	a := s.arrival(e)
	defer a.free()
	landed := s.putInMemoryLocked(a)
	if o != 0 {
		return InDemand
	}
	return landed
}

// writeLocked puts w on the disk, and its marker if there is none yet. The record that it replaces is gone when it
// returns, even after an error.
func (s *Store) writeLocked(w *written) error {
	d := s.disk
	d.changesOf(w.head.key).Add(1)
	if err := d.put(w); err != nil {
		return err
	}
	if err := s.markLocked(w); err != nil {
		return err
	}
	d.books.landed(int64(len(w.body)))
	return nil
}

func (d *diskTier) put(w *written) error {
	if w.buffer != nil {
		return d.PutBuffer(w.hash, w.name, w.block, w.buffer)
	}
	return d.Put(w.hash, w.name, w.block, w.body)
}

// markLocked lists w, which is on the disk, and puts the marker of its URL if there is none yet, or if it lacks a list
// of names or too many variants.
func (s *Store) markLocked(w *written) error {
	d, url := s.disk, w.head.URL()
	if !w.head.Varies() {
		return nil
	}
	var r *record
	if slot := s.describeLocked(w.head); slot != nil {
		r = slot.value
		if !r.disk.known.Load() && d.Holds(w.markerHash) { // it was not read in time, and has other lists and variants
			d.Remove(w.hash)
			return errMarkerLost
		}
		s.listOnDiskLocked(slot, w)
		if v := r.disk; d.Holds(w.markerHash) && !v.outdated && v.unlisted*listShare <= len(v.all) {
			return nil
		}
	} else {
		r = s.newRecord(w.head)
		r.disk.all = []diskVariant{{hash: w.hash, key: w.head.key}}
	}
	err := s.putMarkerLocked(url, r, w.markerHash)
	if err != nil {
		d.Remove(w.hash)
		if outcomeOf(err) == 0 {
			return err
		}
		return errMarkerLost
	}
	return nil
}

// dropReplacedLocked removes from memory what w, which is on the disk, has replaced. What was staged under its Key
// leaves for the reason why. The index learns what the URL varies by.
func (s *Store) dropReplacedLocked(w *written, why departure) {
	o := w.head
	s.clearLocked(o)
	if it := s.heldLocked(o.key); it != nil {
		s.leaveLocked(it, replaced)
	}
	if staged := s.stage.items.peek(o.key); staged != nil {
		s.stage.leave(staged, why)
	}
	if !o.Varies() {
		s.keepMarkedLocked(o)
		return
	}
	if slot := s.describeLocked(o); slot != nil && !slot.value.disk.known.Load() { // new: its marker lists this one alone
		s.listOnDiskLocked(slot, w)
		slot.value.disk.unlisted = 0
	}
}

// keepMarkedLocked puts a marker for the URL of o, which does not vary, if variants on the disk have none: an earlier
// version had it in the place that o has now.
func (s *Store) keepMarkedLocked(o *Object) {
	slot := s.index.peek(o.URL())
	if slot == nil || !slot.value.isOf(o) || len(slot.value.disk.all) == 0 {
		return
	}
	if h := s.disk.markerHash(o.Name()); !s.disk.Holds(h) {
		_ = s.putMarkerLocked(slot.key, slot.value, h)
	}
}

// promoteToDisk is Promote for a Store with a Disk. It reports false if the disk is out of use.
func (s *Store) promoteToDisk(staged *Object) (moved, done bool) {
	w, err := s.disk.write(staged.Entry())
	defer w.free()
	if err != nil {
		return false, outcomeOf(err) != 0
	}
	s.loadVariantList(&w)
	s.mu.Lock()
	defer s.unlock()
	if slot := s.stage.items.peek(staged.key); slot == nil || slot.value != staged || !s.takesListOfLocked(staged) {
		return false, true
	}
	if err := s.writeLocked(&w); err != nil {
		return false, outcomeOf(err) != 0 // it stays where it is
	}
	s.dropReplacedLocked(&w, promoted)
	return true, true
}
