package disk

import (
	"time"

	"edgeproxy/internal/cache/disk/index"
)

const (
	// growBy is how much larger the index gets at once, and growTo how much in all: to room for objects of an eighth of MeanObjectBytes.
	growBy = 1.5
	growTo = 8
	// growAgain is how long a growth that has failed is not tried again.
	growAgain = time.Minute
)

// makeIndexRoom has the index grow where n more records do not fit, and waits for that.
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

// grow has the index grow for n more records, as far as it may. It reports whether it has. V.growing is held.
//
// A larger index is filled from the footers of the segments, as at a start, and takes over. What comes meanwhile comes to both, also from segments that are
// not filled in yet.
func (v *volume) grow(n int) bool {
	objects := v.index.Objects()
	want := min(max(int(growBy*float64(objects)), int(float64(v.index.Len()+n)/index.MadeFor)), growTo*v.o.objects())
	if want <= objects {
		if v.full.CompareAndSwap(false, true) {
			v.o.Log.Warn("the index of the disk cache is full: it has no room for objects so short", "path", v.o.Path, "objects", objects)
		}
		return false
	}
	return v.growTo(want)
}

// growTo uses an index for that many objects. V.growing is held.
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

// watchIndex has the index grow before it is full, in a goroutine of its own. It is the writer's.
func (v *volume) watchIndex() {
	if !v.index.Fits(0) && v.growing.TryLock() {
		v.growing.Unlock()
		v.wg.Go(func() { v.makeIndexRoom(0) })
	}
}

// placesOf returns what s has, or more.
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
