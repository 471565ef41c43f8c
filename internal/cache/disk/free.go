package disk

import (
	"cmp"
	"errors"
	"slices"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// reclaimer gives the bytes of records and segments that have left back to the file system. Only the writer uses it.
type reclaimer struct {
	journal
	limbo []freeing  // evicted records that are still read by someone
	stuck []freeing  // evicted records that could not be detached
	left  []leftover // files that could not be removed
}

// freeing is a large record that is no longer in the index, and whose bytes are to be freed.
type freeing struct {
	seg           *segment
	offset, bytes int64
	logged        bool // the log has its removal
}

// noteFreeing returns f as one that has to wait. It is logged, as it would be back with the next opening until then.
func (w *reclaimer) noteFreeing(f freeing) freeing {
	if !f.logged {
		w.log.add(w.head, layout.Removed{Segment: f.seg.number, Offset: f.offset})
		f.logged = true
	}
	return f
}

// freed reports whether the record takes no bytes any more, or leaves with all of its segment.
func (w *reclaimer) freed(f freeing) bool {
	return !w.segments.isListed(f.seg) || f.seg.punched(f.offset)
}

// free punches out records, and those that waited for a reader. Adjacent ones go in one call.
func (w *reclaimer) free(out []freeing) {
	out = append(w.limbo, out...)
	w.limbo = nil
	slices.SortStableFunc(out, func(a, b freeing) int { // records that waited come first
		return cmp.Or(cmp.Compare(a.seg.number, b.seg.number), cmp.Compare(a.offset, b.offset))
	})
	out = slices.CompactFunc(out, func(a, b freeing) bool { return a.seg == b.seg && a.offset == b.offset }) // a waiting record comes again when the hand passes it
	var run run
	for _, f := range out {
		switch {
		case w.freed(f):
			continue
		case w.pins.has(place(f.seg.number, f.offset, f.bytes)):
			w.limbo = append(w.limbo, w.noteFreeing(f))
			continue
		case !run.takes(f):
			w.punch(run)
			run = nil
		}
		run = append(run, f)
	}
	w.punch(run)
}

// freeLogged frees a record whose removal is logged: at once, or when its segment is sealed.
func (w *reclaimer) freeLogged(f freeing) {
	if !w.segments.isListed(f.seg) {
		f.seg.waiting = append(f.seg.waiting, f)
		return
	}
	w.free([]freeing{f})
	w.unlinkEmpty(f.seg)
}

// freeWaiting frees the records that were removed before s was sealed.
func (w *reclaimer) freeWaiting(s *segment) {
	out := s.waiting
	s.waiting = nil
	if len(out) == 0 || !w.punches.Load() {
		return
	}
	w.free(out)
	w.unlinkEmpty(s)
}

// run is records that are adjacent in a file.
type run []freeing

func (r run) end() int64 { return r[len(r)-1].offset + r[len(r)-1].bytes }

func (r run) takes(f freeing) bool { return len(r) == 0 || r[0].seg == f.seg && r.end() == f.offset }

// punch makes a hole of r. Records that cannot be detached wait for the next round: each try costs writes.
func (w *reclaimer) punch(r run) {
	if len(r) == 0 {
		return
	}
	seg, offset, bytes := r[0].seg, r[0].offset, r.end()-r[0].offset
	err := w.detach(r)
	if err == nil {
		err = w.call(func() error { return seg.file.Load().Punch(offset, bytes) })
	}
	if err != nil {
		for i := range r {
			r[i] = w.noteFreeing(r[i])
		}
	}
	switch {
	case err == nil:
		w.segments.punched(seg, r, bytes)
	case errors.Is(err, device.ErrUnsupported):
		w.noPunching()
	case errors.Is(err, device.ErrCached):
		w.stuck = append(w.stuck, r...)
	}
}

// detach makes sure that a hole of r changes nothing that is being sent: the kernel may still be sending a body to a client after the answer has
// ended for us. Only records that were lent need it.
func (w *reclaimer) detach(r run) error {
	lent := false
	for _, f := range r {
		lent = lent || f.seg.lent(f.offset)
	}
	if !lent {
		return nil
	}
	seg, offset, bytes := r[0].seg, r[0].offset, r.end()-r[0].offset
	n := int64(0)
	err := w.call(func() (err error) {
		if n, err = seg.file.Load().Detach(offset, bytes); !w.lends.Load() {
			return nil // most likely it was so before as well, and then nothing was lent
		}
		return noSpace(err)
	})
	if n > 0 {
		w.counts.wrote(n, 0)
		w.rate.spend(n)
	}
	return err
}

// noHoles is a line of the log.
const noHoles = "the file system of the disk tier does not support hole punching: a large object frees its space only when its whole segment is removed"

// noPunching stops punching: from now on all segments leave whole.
func (w *reclaimer) noPunching() {
	if w.punches.Swap(false) {
		w.o.Log.Warn(noHoles, "path", w.o.Path)
	}
	w.segments.mix()
}

// unlinkEmpty removes the file of s if it has no records any more. It reports whether it did.
func (w *reclaimer) unlinkEmpty(s *segment) bool {
	if w.segments.left(s) > layout.Page+s.footer {
		return false
	}
	w.unlink(s)
	return true
}

// unlink removes the file of s. Readers may finish; the index must have none of its records.
func (w *reclaimer) unlink(s *segment) {
	bytes := w.segments.unlist(s)
	w.patches.drop(uint16(s.number % slotCount)) //nolint:gosec // below 65,536
	if gone := (leftover{s.number, bytes}); w.note(w.removeFile(gone)) != nil {
		w.hidden.Add(1)
		w.left = append(w.left, gone)
	}
	s.letGo()
}

// leftover is the file of a segment that has left, and could not be removed. The next opening finds its records again.
type leftover struct {
	number uint64
	bytes  int64
}

func (w *reclaimer) removeFile(l leftover) error {
	if err := w.watched(func() error { return notThere(w.dir.Remove(segmentName(l.number))) }); err != nil {
		return err
	}
	w.unsynced = true
	w.segments.removed(l.bytes)
	return nil
}

// removeLeft removes the files that could not be removed before. It returns why one still cannot.
func (w *reclaimer) removeLeft() (err error) {
	left := w.left
	w.left = nil
	for _, l := range left {
		if failed := w.removeFile(l); failed != nil {
			w.left, err = append(w.left, l), failed
			continue
		}
		w.hidden.Add(-1)
	}
	return err
}

// freeDead logs a removal, and frees the record's bytes if it has whole pages.
func (w *reclaimer) freeDead(d deadRecord) {
	w.log.add(w.head, layout.Removed{Segment: d.segment.number, Offset: d.offset})
	w.counts.removed.Add(1)
	if d.segment.kind != layout.Large || !w.punches.Load() || w.segments.slot(d.segment.number).Load() != d.segment {
		return
	}
	var fixed [layout.Unit]byte
	read := func() error { _, err := d.segment.file.Load().ReadAt(fixed[:], d.offset); return err }
	if w.call(read) != nil {
		return // the hand frees it later
	}
	if shape, err := w.head.Need(fixed[:], d.segment.number, d.offset); err == nil {
		w.freeLogged(freeing{seg: d.segment, offset: d.offset, bytes: shape.Bytes, logged: true})
	}
}

// takeDead handles the records that just left the index, so that they are logged before their replacements are written.
func (w *reclaimer) takeDead() {
	w.queue.mu.Lock()
	deaths := w.queue.deaths
	w.queue.deaths = nil
	w.queue.mu.Unlock()
	for _, d := range deaths {
		w.freeDead(d)
	}
}
