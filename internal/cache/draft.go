package cache

import "edgeproxy/internal/cache/disk"

// beginOnDisk is Begin for a Store with a Disk, for a body that may be too long for memory. If memory has the whole
// body in the end, it is put from there instead.
func (w *Writer) beginOnDisk(e *Entry, length int64) {
	s := w.store
	if w.onDisk != nil || length >= 0 && length <= s.limits.maxObjectBytes || s.limits.maxDiskObjectBytes <= s.limits.maxObjectBytes || !s.Takes(length, e, true) {
		return
	}
	head := int64(len(e.Name)+stampBytes) + e.writtenBytes()
	w.size = 0
	if w.onDisk, w.lost = s.disk.Create(s.disk.hash(e.Name), length, head); w.lost != nil {
		w.onDisk = nil
	}
}

// appendOnDisk writes p, or gives up.
func (w *Writer) appendOnDisk(p []byte) {
	w.size += int64(len(p))
	if _, err := w.onDisk.Write(p); err != nil {
		w.lost = err
		w.onDisk.Abort()
		w.onDisk = nil
	}
}

// Lost returns why the disk did not take the body. It returns Stored if the disk took it, or was not asked.
func (w *Writer) Lost() Outcome {
	if w.lost == nil {
		return Stored
	}
	if o := outcomeOf(w.lost); o != 0 {
		return o
	}
	return DiskBusy // it is out of use
}

// commitDraft is Commit for a body that was written to the disk.
func (w *Writer) commitDraft(e *Entry, unless func() bool) Outcome {
	d := w.onDisk
	w.onDisk = nil
	return w.store.commitOnDisk(e, d, w.size, unless)
}

// commitOnDisk stores e, whose content was written to the disk. It may wait for the disk.
//
// The record can be found a moment before unless is asked. A purge that comes in that moment reaches it by its mark, as
// it reaches everything that is found.
func (s *Store) commitOnDisk(e *Entry, d *disk.Draft, size int64, unless func() bool) (o Outcome) {
	t := s.disk
	w, err := t.headed(e)
	defer w.free()
	if err == nil {
		s.draftLands(w.hash, 1)
		defer s.draftLands(w.hash, -1)
		err = d.Commit(w.name, w.block)
	}
	if err != nil {
		d.Abort()
		if o := outcomeOf(err); o != 0 {
			return o
		}
		return DiskBusy
	}
	s.loadVariantList(&w)
	s.mu.Lock()
	defer s.unlock()
	defer func() {
		if o != Stored { // also if unless has panicked
			t.Remove(w.hash)
		}
	}()
	t.changesOf(e.Key).Add(1)
	if unless != nil && unless() {
		return Purged
	}
	if !s.takesListOfLocked(w.head) {
		return VaryLimit
	}
	if err := s.markLocked(&w); err != nil {
		return DiskBusy
	}
	t.books.landed(size)
	s.dropReplacedLocked(&w, replaced)
	return Stored
}

// draftLands notes that a draft is about to be found and listed, or that one has been.
func (s *Store) draftLands(hash uint64, more int) {
	s.mu.Lock()
	defer s.unlock()
	if s.disk.landing[hash] += more; s.disk.landing[hash] == 0 {
		delete(s.disk.landing, hash)
	}
}
