package disk

import (
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// scrub reads all records again and again, ScrubRate bytes a second, so that a damaged one is found before somebody asks for it. It ends with
// the volume.
func (v *volume) scrub() {
	for v.sleep(v.o.scrubAfter) {
		pace := pacer{v: v, perSecond: v.o.ScrubRate, began: v.o.Now()}
		for _, s := range v.listedFrom(0) {
			if s.hold() {
				err := v.scrubOne(s, &pace)
				s.letGo()
				if err != nil {
					return
				}
			}
		}
		v.counts.scrubs.Add(1)
	}
}

// sleep waits, and returns false if the volume ends meanwhile.
func (v *volume) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-v.stop:
	case <-v.broke:
	}
	return false
}

// scrubOne checks the indexed records of a segment. It removes and counts the damaged ones. The error is ErrOff if the volume ends meanwhile.
func (v *volume) scrubOne(s *segment, pace *pacer) error {
	v.fillIn(s)
	entries, err := v.footerOf(s)
	if err != nil {
		return nil //nolint:nilerr // none of it is served, or the next start scans it
	}
	var h Hit
	for _, e := range entries {
		if err := pace.wait(e.Bytes); err != nil {
			return err
		}
		at := place(s.number, e.Offset, e.Bytes)
		if !v.pin(e.Hash, at, &h) {
			continue
		}
		if h.head, err = h.readHead(); err == nil {
			h.size = h.head.BodyBytes
			_ = h.Check(0, h.size) // it removes a damaged record
		} else {
			v.reject(e.Hash, at, err)
		}
		h.Close()
		v.counts.scrubbed.Add(e.Bytes)
	}
	return nil
}

// footerOf returns the entries of a segment that is not being written. The writer does not call it.
func (v *volume) footerOf(s *segment) ([]layout.Entry, error) {
	if s.file.Load() == nil {
		return nil, layout.ErrDamaged
	}
	if s.entries != nil {
		return decode(s.entries, layout.Trailer{EntriesAt: s.end(v)}), nil
	}
	b, t, err := v.readFooter(s)
	return decode(b, t), err
}
