package cache

import (
	"bytes"
	"fmt"

	"edgeproxy/internal/cache/disk"
)

// mostNoted is of how many records a sweep of the disk notes at most that something else stands for them.
const mostNoted = 1 << 16

// SweepDisk has revise look at each response that is on the disk all the while. It returns the entry that it was given, unchanged, to leave that as it is, nil to
// have it forgotten, or another to stand in its place, as with Revise: the disk notes that (patch.go). Where it cannot, for what it has
// to say or since there are too many, the response is forgotten. The error is nil if none was left out and what was forgotten or noted stays so. It takes long;
// revise must not wait, nor call the Store, and is asked twice of what it changes.
func (s *Store) SweepDisk(revise func(*Entry) *Entry) error {
	if s.disk == nil {
		return nil
	}
	w := diskSweep{store: s, revise: revise}
	if err := s.disk.Each(func(i *disk.Item) bool { w.visit(i); return true }); err != nil {
		return fmt.Errorf("cache: sweep of the disk: %w", err)
	}
	if len(w.noted) > 0 {
		_ = s.disk.Flush() // of what waits to be written nothing can be noted: where this fails it is forgotten
	}
	for _, name := range w.noted {
		s.reviseOnDisk(name, revise)
	}
	if err := s.disk.Keep(); err != nil {
		return fmt.Errorf("cache: what a sweep has forgotten: %w", err)
	}
	return nil
}

// diskSweep is a sweep of the disk under way.
type diskSweep struct {
	store  *Store
	revise func(*Entry) *Entry
	noted  [][]byte // names of what is to be noted
}

// visit has a record forgotten, or puts it down to be noted.
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

// reviseOnDisk has the disk note what revise makes of the record under name, or forget it.
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
		return // something else is there since
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
