package disk

import (
	"cmp"
	"errors"
	"slices"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// freeing is a large record that is no longer in the index, and whose bytes are to be freed.
type freeing struct {
	seg           *segment
	offset, bytes int64
	logged        bool // as removed
}

// noteFreeing returns f as one that has to wait. It is logged, as it would be back with the next opening until then.
func (v *volume) noteFreeing(f freeing) freeing {
	if !f.logged {
		v.log.add(v.head, layout.Removed{Segment: f.seg.number, Offset: f.offset})
		f.logged = true
	}
	return f
}

// freed reports whether the record takes no bytes any more, or leaves with all of its segment.
func (v *volume) freed(f freeing) bool { return !v.isListed(f.seg) || f.seg.punched(f.offset) }

// free punches out records, and those that waited for a reader. Adjacent ones go in one call.
func (v *volume) free(out []freeing) {
	out = append(v.limbo, out...)
	v.limbo = nil
	slices.SortStableFunc(out, func(a, b freeing) int { // those that waited come first
		return cmp.Or(cmp.Compare(a.seg.number, b.seg.number), cmp.Compare(a.offset, b.offset))
	})
	out = slices.CompactFunc(out, func(a, b freeing) bool { return a.seg == b.seg && a.offset == b.offset }) // a waiting record comes again when the hand passes it
	var run run
	for _, f := range out {
		switch {
		case v.freed(f):
			continue
		case v.pins.has(place(f.seg.number, f.offset, f.bytes)):
			v.limbo = append(v.limbo, v.noteFreeing(f))
			continue
		case !run.takes(f):
			v.punch(run)
			run = nil
		}
		run = append(run, f)
	}
	v.punch(run)
}

// freeLogged frees a record whose removal is logged: at once, or when its segment is sealed.
func (v *volume) freeLogged(f freeing) {
	if !v.isListed(f.seg) {
		f.seg.waiting = append(f.seg.waiting, f)
		return
	}
	v.free([]freeing{f})
	v.unlinkEmpty(f.seg)
}

// freeWaiting frees the records that were removed before s was sealed.
func (v *volume) freeWaiting(s *segment) {
	out := s.waiting
	s.waiting = nil
	if len(out) == 0 || !v.punches.Load() {
		return
	}
	v.free(out)
	v.unlinkEmpty(s)
}

// run is records that are adjacent in a file.
type run []freeing

func (r run) end() int64 { return r[len(r)-1].offset + r[len(r)-1].bytes }

func (r run) takes(f freeing) bool { return len(r) == 0 || r[0].seg == f.seg && r.end() == f.offset }

// punch makes a hole of r. Records that cannot be detached wait for the next round: each try costs writes.
func (v *volume) punch(r run) {
	if len(r) == 0 {
		return
	}
	seg, offset, bytes := r[0].seg, r[0].offset, r.end()-r[0].offset
	err := v.detach(r)
	if err == nil {
		err = v.call(func() error { return seg.file.Load().Punch(offset, bytes) })
	}
	if err != nil {
		for i := range r {
			r[i] = v.noteFreeing(r[i])
		}
	}
	switch {
	case err == nil:
		v.mu.Lock()
		defer v.mu.Unlock()
		seg.freed += bytes
		v.used -= bytes
		for _, f := range r {
			seg.notePunched(f.offset)
		}
	case errors.Is(err, device.ErrUnsupported):
		v.noPunching()
	case errors.Is(err, device.ErrCached):
		v.stuck = append(v.stuck, r...)
	}
}

// detach makes sure that a hole of r changes nothing that is being sent: the kernel may still be sending a body to a client after the answer has
// ended for us. Only records that were lent need it.
func (v *volume) detach(r run) error {
	lent := false
	for _, f := range r {
		lent = lent || f.seg.lent(f.offset)
	}
	if !lent {
		return nil
	}
	seg, offset, bytes := r[0].seg, r[0].offset, r.end()-r[0].offset
	n := int64(0)
	err := v.call(func() (err error) {
		if n, err = seg.file.Load().Detach(offset, bytes); !v.lends.Load() {
			return nil // most likely it was so before as well, and then nothing was lent
		}
		return noSpace(err)
	})
	if n > 0 {
		v.counts.wrote(n, 0)
		v.rate.spend(n)
	}
	return err
}

// noHoles is a line of the log.
const noHoles = "the file system of the disk tier does not support hole punching: a large object frees its space only when its whole segment is removed"

// noPunching stops punching: from now on all segments leave whole.
func (v *volume) noPunching() {
	if v.punches.Swap(false) {
		v.o.Log.Warn(noHoles, "path", v.o.Path)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.large {
		v.small = insert(v.small, s)
	}
	v.large, v.hand = nil, hand{}
}
