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
func (v *volume) makeIndexRoom(n int) {
	if v.index.Fits(n) {
		return
	}
	v.growing.Lock()
	defer v.growing.Unlock()
	if now := v.o.Now(); !v.index.Fits(n) && now.Sub(v.grewBadly) >= growAgain {
		if !v.grow(n) {
			v.grewBadly = now
		}
	}
}

// grow grows the index for n more records, as far as allowed. It reports whether it grew. V.growing is held.
//
// A larger index is filled from the footers of the segments, as at a start, and then replaces the old one. Records that come meanwhile are added
// to both, also those of segments that are not filled in yet.
func (v *volume) grow(n int) bool {
	objects := v.index.Objects()
	want := min(max(int(growBy*float64(objects)), int(float64(v.index.Len()+n)/index.MadeFor)), growTo*v.o.objects())
	if want <= objects {
		if v.full.CompareAndSwap(false, true) {
			v.o.Log.Warn("the index of the disk tier is full: the oldest objects are evicted before max_bytes is reached; a larger max_bytes makes a larger index", "path", v.o.Path, "objects", objects)
		}
		return false
	}
	return v.growTo(want)
}

// growTo replaces the index by one for that many objects. V.growing is held.
func (v *volume) growTo(objects int) bool {
	v.index.Begin(objects)
	for i := range v.slots {
		s := v.slots[i].Load()
		if s == nil || !s.indexed.Load() || !s.hold() {
			continue
		}
		entries, err := v.placesOf(s)
		s.letGo()
		if err != nil || v.ending() {
			v.index.End(false)
			return false
		}
		v.index.Copy(entries)
	}
	v.index.End(true)
	v.counts.grown.Add(1)
	return true
}

// watchIndex grows the index before it is full, in a goroutine of its own. Only the writer calls it.
func (v *volume) watchIndex() {
	if !v.index.Fits(0) && v.growing.TryLock() {
		v.growing.Unlock()
		v.wg.Go(func() { v.makeIndexRoom(0) })
	}
}

// placesOf returns the places of the records of s, and perhaps more.
func (v *volume) placesOf(s *segment) ([]index.Entry, error) {
	v.mu.Lock()
	fresh, listed := s.fresh, s.listed
	v.mu.Unlock()
	if !listed || s.file.Load() == nil {
		return fresh, nil
	}
	all, err := v.footerOf(s)
	if err != nil {
		return nil, err
	}
	places := make([]index.Entry, 0, len(all))
	for _, e := range all {
		places = append(places, index.Entry{Hash: e.Hash, Place: place(s.number, e.Offset, e.Bytes)})
	}
	return places, nil
}

// ending reports whether the volume has failed or is being closed.
func (v *volume) ending() bool {
	select {
	case <-v.stop:
		return true
	case <-v.broke:
		return true
	default:
		return false
	}
}
