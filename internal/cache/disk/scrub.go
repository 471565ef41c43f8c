package disk

import (
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// scrub reads all records again and again, ScrubRate bytes a second, so that a damaged one is found before somebody asks for it. It ends with
// the volume.
func (v *volume) scrub() {
	for v.sleep(v.o.scrubAfter) {
		pace := pacer{v: &v.shared, perSecond: v.o.ScrubRate, began: v.o.Now()}
		for _, s := range v.segments.listedFrom(0) {
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

// scrubOne checks the indexed records of a segment. It removes and counts the damaged ones. The error is ErrOff if the volume ends meanwhile.
func (v *volume) scrubOne(s *segment, pace *pacer) error {
	v.loader.fillIn(s)
	entries, err := v.loader.footerOf(s)
	if err != nil {
		return nil //nolint:nilerr // none of it is served, or the next start scans it
	}
	var h Hit
	for _, e := range entries {
		if err := pace.wait(e.Bytes); err != nil {
			return err
		}
		at := place(s.number, e.Offset, e.Bytes)
		if !v.reader.pin(e.Hash, at, &h) {
			continue
		}
		if h.head, err = h.readHead(); err == nil {
			h.size = h.head.BodyBytes
			_ = h.Check(0, h.size) // it removes a damaged record
		} else {
			v.reader.reject(e.Hash, at, err)
		}
		h.Close()
		v.counts.scrubbed.Add(e.Bytes)
	}
	return nil
}

// footerOf returns the entries of a segment that is not being written. The writer does not call it.
func (l *loader) footerOf(s *segment) ([]layout.Entry, error) {
	if s.file.Load() == nil {
		return nil, layout.ErrDamaged
	}
	if s.entries != nil {
		return decode(s.entries, layout.Trailer{EntriesAt: l.segments.end(s)}), nil
	}
	b, t, err := l.readFooter(s)
	return decode(b, t), err
}

// pacer bounds the rate of background reads, such as those of a sweep. One goroutine uses it.
type pacer struct {
	v         *shared
	perSecond int64 // bytes; 0: no bound
	began     time.Time
	bytes     int64
}

// pacedAt is how far ahead of its rate a pacer may be before it waits.
const pacedAt = 10 * time.Millisecond

// wait waits until n more bytes may be read. The error is ErrOff if the volume has ended.
func (p *pacer) wait(n int64) error {
	if p.perSecond == 0 {
		return nil
	}
	p.bytes += n
	ahead := time.Duration(float64(p.bytes)/float64(p.perSecond)*float64(time.Second)) - p.v.o.Now().Sub(p.began)
	if ahead < pacedAt {
		return nil
	}
	if !p.v.sleep(ahead) {
		return ErrOff
	}
	return nil
}
