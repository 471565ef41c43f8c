package cache

import (
	"bytes"
	"fmt"

	"edgeproxy/internal/cache/disk"
)

// mostNoted is how many records a sweep of the disk patches at most.
const mostNoted = 1 << 16

// SweepDisk calls revise with each response that is on the disk for the whole call. Revise returns the entry that it
// was given, unchanged, to keep it; nil to remove it; or another to replace it, as with Revise: the disk patches the
// record (patch.go). If a patch cannot say that, or there are too many, the response is removed. The error is nil if no
// response was left out and the removals and patches outlive the process. It takes long. Revise must not wait, nor call
// the Store, and is asked twice of what it changes.
func (s *Store) SweepDisk(revise func(*Entry) *Entry) error {
	if s.disk == nil {
		return nil
	}
	w := diskSweep{store: s, revise: revise}
	if err := s.disk.Each(func(i *disk.Item) bool { w.visit(i); return true }); err != nil {
		return fmt.Errorf("sweep the disk tier: %w", err)
	}
	if len(w.noted) > 0 {
		_ = s.disk.Flush() // a record that waits to be written cannot be patched; if this fails it is removed
	}
	for _, name := range w.noted {
		s.reviseOnDisk(name, revise)
	}
	if err := s.disk.Keep(); err != nil {
		return fmt.Errorf("save the removals of a sweep: %w", err)
	}
	return nil
}

// diskSweep is a sweep of the disk in progress.
type diskSweep struct {
	store  *Store
	revise func(*Entry) *Entry
	noted  [][]byte // names of records to patch
}

// visit removes a record, or adds its name to noted.
func (w *diskSweep) visit(i *disk.Item) {
	e := w.store.disk.entryOf(i.Block)
	if e == nil {
		i.Remove()
		return
	}
	if e.isMarker() {
		return
	}
	head := w.store.renewedOf(e.Key, e.Serial, e.Name)
	if head != nil {
		e = head.Entry()
	}
	switch revised := w.revise(e); {
	case revised == e:
	case revised == nil || head != nil || len(w.noted) == mostNoted:
		i.Remove()
	default:
		w.noted = append(w.noted, bytes.Clone(i.Key))
	}
}

// reviseOnDisk patches the record under name to match what revise returns, or removes it.
func (s *Store) reviseOnDisk(name []byte, revise func(*Entry) *Entry) {
	d := s.disk
	h := d.hash(name)
	var hit disk.Hit
	if !d.Peek(h, name, &hit) {
		d.Remove(h)
		return
	}
	e, serial := d.entryOf(hit.Block), hit.Serial
	if e != nil && hit.Patched {
		e = patched(e, hit.Patch)
	}
	hit.Free()
	if e == nil || e.isMarker() {
		return // another record is there by now
	}
	revised := revise(e)
	if revised == e {
		return
	}
	if revised != nil && s.renewedOf(e.Key, e.Serial, name) == nil {
		if p, ok := patchOf(e, revised); ok && d.Patch(h, name, serial, p) == nil {
			return
		}
	}
	d.changesOf(e.Key).Add(1)
	d.Remove(h)
}
