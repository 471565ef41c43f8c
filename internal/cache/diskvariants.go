package cache

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"edgeproxy/internal/cache/disk"
)

// This file bounds the variants of a URL on the disk, as index.go does in memory.
//
// The content of a URL's marker is a list of its variants there. The record of the URL in memory has it as well, from the time on
// that the marker was read or written. So nothing has to walk over the disk, and the list outlives the process. The marker is
// written anew when one in listShare of the variants is not in its list, when memory drops the record, and at the
// end: so a kill forgets one in listShare of a full list, which leaves so many variants more until they are evicted.

// diskVariant is a variant on the disk.
type diskVariant struct {
	hash uint64 // of its name, as the disk has it
	key  Key
}

// diskVariants is what is known of a URL's variants on the disk. All but known is the writer's.
type diskVariants struct {
	all      []diskVariant // oldest first; some may be gone by now
	unlisted int           // how many the marker does not list
	known    atomic.Bool   // all has what the marker lists
}

const (
	diskVariantBytes = 32 // that one takes of the index
	diskListBytes    = 64 // and the list of them
	listedBytes      = 24 // and of a marker
	listShare        = 8
)

// appendList appends the content of a marker.
func (v *diskVariants) appendList(b []byte) []byte {
	for _, one := range v.all {
		for _, n := range [...]uint64{one.hash, one.key.Hi, one.key.Lo} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return b
}

// listIn returns the list that a marker has, which hit has found; nil of one without, or one that cannot be read.
func listIn(hit *disk.Hit) (all []diskVariant) {
	b := hit.Body
	if b == nil {
		b = make([]byte, hit.Size())
		if _, err := hit.ReadAt(b, 0); err != nil {
			return nil
		}
	}
	le := binary.LittleEndian
	for ; len(b) >= listedBytes; b = b[listedBytes:] {
		all = append(all, diskVariant{hash: le.Uint64(b), key: Key{Hi: le.Uint64(b[8:]), Lo: le.Uint64(b[16:])}})
	}
	return all
}

// recall has memory know which variants of the URL of w the disk has, before w is put. Where memory has forgotten it reads the marker, and
// may wait for that.
func (s *Store) recall(w *written) {
	if w.marker == nil {
		return
	}
	d, url := s.disk, w.head.URL()
	if slot := s.index.peek(url); slot != nil && slot.value.disk.known.Load() || !d.Holds(w.urlHash) {
		return
	}
	changes := d.changesOf(url).Load()
	var hit disk.Hit
	if !d.Peek(w.urlHash, w.head.URLName(), &hit) {
		return
	}
	e, list := d.entryOf(hit.Block), []diskVariant(nil)
	if e != nil && e.isMarker() {
		list = listIn(&hit)
	}
	hit.Free()
	if e != nil && e.isMarker() {
		s.learn(e, list, changes)
	}
}

// learn has memory know what the marker e says, which stood on the disk at the time of changes and lists these variants.
func (s *Store) learn(e *Entry, list []diskVariant, changes uint32) {
	o := newObject(e, false)
	s.mu.Lock()
	defer s.unlock()
	if s.disk.changesOf(e.URL).Load() != changes || s.heldLocked(e.URL) != nil || s.stage.items.peek(e.URL) != nil {
		return
	}
	s.describeLocked(o)
	slot := s.index.peek(e.URL)
	if slot == nil || !slot.value.describes(o) || slot.value.disk.known.Swap(true) {
		return
	}
	v := slot.value.disk
	own := v.all
	many := max(len(list)-s.mostOnDisk(slot), 0) // of a process that allowed more
	for _, one := range list[:many] {
		s.evictVariantLocked(slot.value, one)
	}
	v.all = list[many:]
	for _, one := range own {
		if !slices.Contains(v.all, one) {
			v.all = append(v.all, one)
		}
	}
	s.settleListLocked(slot, len(own))
}

// listBytes returns what a list of n takes of the index.
func listBytes(n int) int64 {
	if n == 0 {
		return 0
	}
	return diskListBytes + int64(n)*diskVariantBytes
}

// settleListLocked has the index account for the list of slot, which had was entries.
func (s *Store) settleListLocked(slot *slot[*record], was int) {
	more := listBytes(len(slot.value.disk.all)) - listBytes(was)
	if more > 0 {
		s.makeIndexRoomLocked(more, slot)
	}
	s.index.resize(slot, more)
}

// mostOnDisk returns how many variants of the URL of slot the disk may have: as MaxVariants says, and no more than half of the index can list
// beside one in memory.
func (s *Store) mostOnDisk(slot *slot[*record]) int {
	r := slot.value
	base := slot.bytes - int64(len(r.keys))*variantBytes - listBytes(len(r.disk.all))
	room := ((s.limits.indexBytes-base-variantBytes)/2 - diskListBytes) / diskVariantBytes
	return int(min(int64(s.limits.maxVariants), max(room, 0)))
}

// listOnDiskLocked makes w, which has landed, the newest variant in the record of slot, and removes others where there are too many.
func (s *Store) listOnDiskLocked(slot *slot[*record], w *written) {
	v := slot.value.disk
	v.known.Store(true)
	one := diskVariant{hash: w.hash, key: w.head.key}
	was := len(v.all)
	if slices.Contains(v.all, one) {
		return
	}
	most := s.mostOnDisk(slot)
	for len(v.all) > 0 && len(v.all) >= most {
		i := s.leastUsedOnDiskLocked(slot.value, w)
		s.evictVariantLocked(slot.value, v.all[i])
		v.all = slices.Delete(v.all, i, i+1)
	}
	if most > 0 {
		v.all = append(v.all, one)
	}
	v.unlisted++
	s.settleListLocked(slot, was)
}

// leastUsedOnDiskLocked returns which of the listed variants of r, at least one, was asked for least of late, the oldest of several: on the disk
// since the hand came by, and in memory as leastUsedLocked has it. One that has gone comes first. W is to take its place.
func (s *Store) leastUsedOnDiskLocked(r *record, w *written) (least int) {
	halve, fewest := r.fades(w.head.ResponseTime()), -1
	for i, one := range r.disk.all {
		uses, held := s.disk.Hits(one.hash)
		it := s.ofURLLocked(one.key, r.name)
		if it == nil && !held {
			return i
		}
		if it != nil {
			if halve {
				it.fade()
			}
			uses += int(it.uses())
		}
		if fewest < 0 || uses < fewest {
			least, fewest = i, uses
		}
	}
	return least
}

// evictVariantLocked removes a variant of r for which there is no room. Where the index is being filled it may come to it later: then it is forgotten.
func (s *Store) evictVariantLocked(r *record, one diskVariant) {
	s.removeLocked(one.key, r.name, variants)
	if s.disk.forget(one) {
		s.disk.books.variants.Add(1)
	}
}

// unlistLocked takes what is under a hash from the list of slot.
func (s *Store) unlistLocked(slot *slot[*record], hash uint64) {
	v := slot.value.disk
	was := len(v.all)
	v.all = slices.DeleteFunc(v.all, func(one diskVariant) bool { return one.hash == hash })
	s.settleListLocked(slot, was)
}

// forget removes a variant from the disk, and reports whether it was there.
func (d *diskTier) forget(one diskVariant) bool {
	held := d.Holds(one.hash)
	d.changesOf(one.key).Add(1)
	d.Remove(one.hash)
	return held
}

// dropOnDiskLocked removes the listed variants of r from the disk, and returns how many of them memory has not.
func (s *Store) dropOnDiskLocked(r *record) (objects int) {
	for _, one := range r.disk.all {
		if s.disk.forget(one) && s.ofURLLocked(one.key, r.name) == nil {
			objects++
		}
	}
	return objects
}

// relistLocked writes the marker for the record of slot, where that knows variants that the marker does not list.
func (s *Store) relistLocked(slot *slot[*record]) {
	r, d := slot.value, s.disk
	if d == nil || r.disk.unlisted == 0 {
		return
	}
	h := d.hash(r.name)
	if !d.Holds(h) { // without one they are not found
		return
	}
	e := &Entry{Key: slot.key, URL: slot.key, Name: r.name, URLLen: int32(len(r.name)), Vary: r.fields} //nolint:gosec // the length of a name
	if block, err := d.blockOf(e); err == nil {
		_ = s.putMarkerLocked(slot, h, block)
	}
}

// putMarkerLocked writes a marker with the list of slot.
func (s *Store) putMarkerLocked(slot *slot[*record], urlHash uint64, block []byte) error {
	r, d := slot.value, s.disk
	d.changesOf(slot.key).Add(1)
	list := make([]byte, 0, listedBytes*len(r.disk.all))
	err := d.Put(urlHash, r.name, block, r.disk.appendList(list))
	if err == nil {
		r.disk.unlisted = 0
	}
	return err
}

// relistAllLocked is relistLocked of all records.
func (s *Store) relistAllLocked() {
	for slot := s.index.ring.next; slot != &s.index.ring; slot = slot.next {
		s.relistLocked(slot)
	}
}
