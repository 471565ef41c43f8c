package cache

import (
	"bytes"

	"edgeproxy/internal/buffer"
	"edgeproxy/internal/cache/disk"
)

// This file stores admitted responses on the Disk. What memory had under the key leaves. Only while the disk is out of
// use are they stored in memory.

// written is a response on its way to the disk.
type written struct {
	head          *Object   // its key, names and times; valid until free
	room          *[]uint64 // the scratch block of head; nil: none
	name, block   []byte    // the record's, which the disk keeps
	body          []byte
	buffer        *buffer.Buffer // of body; nil: it is of no Buffer
	marker        []byte         // the block of the marker that goes with it; nil without Vary
	hash, urlHash uint64
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
	w.urlHash = w.hash
	if w.head.Varies() {
		w.urlHash = d.hash(w.head.URLName())
		w.marker, err = d.blockOf(markerOf(e))
	}
	return w, err
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

// markLocked puts the marker of w, which is on the disk, if there is none yet, or if the marker's list lacks too many
// variants.
func (s *Store) markLocked(w *written) (err error) {
	d := s.disk
	if w.marker == nil {
		return nil
	}
	slot := s.index.peek(w.head.URL())
	if slot != nil && slot.value.describes(w.head) {
		s.listOnDiskLocked(slot, w)
		if v := slot.value.disk; d.Holds(w.urlHash) && v.unlisted*listShare <= len(v.all) {
			return nil
		}
		err = s.putMarkerLocked(slot, w.urlHash, w.marker)
	} else {
		alone := diskVariants{all: []diskVariant{{hash: w.hash, key: w.head.key}}}
		d.changesOf(w.head.URL()).Add(1)
		err = d.Put(w.urlHash, w.head.URLName(), w.marker, alone.appendList(nil))
	}
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
	if slot := s.index.peek(o.URL()); slot != nil && !slot.value.describes(o) {
		s.unlistLocked(slot, w.hash) // a variant by other fields may have had the same name
	}
	s.clearLocked(o)
	if it := s.heldLocked(o.key); it != nil {
		s.leaveLocked(it, replaced)
	}
	if staged := s.stage.items.peek(o.key); staged != nil {
		s.stage.leave(staged, why)
	}
	if o.Varies() {
		s.describeLocked(o)
		if slot := s.index.peek(o.URL()); slot != nil && !slot.value.disk.known.Load() { // new: its marker lists this one alone
			s.listOnDiskLocked(slot, w)
			slot.value.disk.unlisted = 0
		}
	}
}

// describeLocked makes sure that the index has a record for the URL of o, even if memory holds none of its variants.
func (s *Store) describeLocked(o *Object) {
	size := o.weight().record
	if s.index.peek(o.URL()) != nil || size+variantBytes > s.limits.indexBytes {
		return
	}
	s.makeIndexRoomLocked(size, nil)
	s.index.put(o.URL(), s.newRecord(o), size)
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
	if slot := s.stage.items.peek(staged.key); slot == nil || slot.value != staged {
		return false, true
	}
	if err := s.writeLocked(&w); err != nil {
		return false, outcomeOf(err) != 0 // it stays where it is
	}
	s.dropReplacedLocked(&w, promoted)
	return true, true
}
