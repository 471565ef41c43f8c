package disk

import (
	"time"

	"edgeproxy/internal/cache/disk/internal/index"
)

const (
	// growBy is the factor of one growth of the index, growTo that of all together: room for objects of an eighth of MeanObjectBytes.
	growBy = 1.5
	growTo = 8
	// growAgain is how long after a failed growth the next is tried.
	growAgain = time.Minute
)

// makeIndexRoom grows the index if n more records do not fit, and waits for that.
func (l *loader) makeIndexRoom(n int) {
	if l.index.Fits(n) {
		return
	}
	l.growing.Lock()
	defer l.growing.Unlock()
	if now := l.o.Now(); !l.index.Fits(n) && now.Sub(l.grewBadly) >= growAgain {
		if !l.grow(n) {
			l.grewBadly = now
		}
	}
}

// grow grows the index for n more records, as far as allowed. It reports whether it grew. l.growing is held.
//
// A larger index is filled from the footers of the segments, as at a start, and then replaces the old one. Records that come meanwhile are added
// to both, also those of segments that are not filled in yet.
func (l *loader) grow(n int) bool {
	objects := l.index.Objects()
	want := min(max(int(growBy*float64(objects)), int(float64(l.index.Len()+n)/index.MadeFor)), growTo*l.o.objects())
	if want <= objects {
		if l.full.CompareAndSwap(false, true) {
			l.o.Log.Warn("the index of the disk tier is full: the oldest objects are evicted before max_bytes is reached; a larger max_bytes makes a larger index", "path", l.o.Path, "objects", objects)
		}
		return false
	}
	return l.growTo(want)
}

// growTo replaces the index by one for that many objects. l.growing is held.
func (l *loader) growTo(objects int) bool {
	l.index.Begin(objects)
	for i := range l.segments.slots {
		s := l.segments.slots[i].Load()
		if s == nil || !s.indexed.Load() || !s.hold() {
			continue
		}
		entries, err := l.placesOf(s)
		s.letGo()
		if err != nil || l.ending() {
			l.index.End(false)
			return false
		}
		l.index.Copy(entries)
	}
	l.index.End(true)
	l.counts.grown.Add(1)
	return true
}

// watchIndex grows the index before it is full, in a goroutine of its own. Only the writer calls it.
func (l *loader) watchIndex() {
	if !l.index.Fits(0) && l.growing.TryLock() {
		l.growing.Unlock()
		l.wg.Go(func() { l.makeIndexRoom(0) })
	}
}

// placesOf returns the places of the records of s, and perhaps more.
func (l *loader) placesOf(s *segment) ([]index.Entry, error) {
	fresh, listed := l.segments.announced(s)
	if !listed || s.file.Load() == nil {
		return fresh, nil
	}
	all, err := l.footerOf(s)
	if err != nil {
		return nil, err
	}
	places := make([]index.Entry, 0, len(all))
	for _, e := range all {
		places = append(places, index.Entry{Hash: e.Hash, Place: place(s.number, e.Offset, e.Bytes)})
	}
	return places, nil
}
