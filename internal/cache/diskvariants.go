package cache

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"edgeproxy/internal/cache/disk"
)

// This file bounds the variants of a URL on the disk, as index.go does in memory.
//
// The content of a URL's marker lists its variants on the disk, by whichever list they vary. The record of the URL in
// memory has the list as well, once the marker was read or written. So nothing has to scan the disk, and the list
// outlives the process. The marker is written again when one in listShare of the variants is not in its list, when the
// URL varies by one more list of names, when memory drops the record, and at Close. So a kill loses one in listShare of
// a full list: that many variants exceed the bound until they are evicted.

// diskVariant is a variant on the disk.
type diskVariant struct {
	hash uint64 // hash of its name under the disk's seed
	key  Key
}

// diskVariants lists the variants of a URL on the disk. All fields but known are the writer's.
type diskVariants struct {
	all      []diskVariant // oldest first; some may be gone by now
	unlisted int           // how many the marker does not list
	outdated bool          // the marker lacks a list, or has it as useless too early
	known    atomic.Bool   // all includes what the marker lists
}

const (
	diskVariantBytes = 32 // bytes of the index for one variant
	diskListBytes    = 64 // bytes of the index for a list
	listedBytes      = 24 // bytes of a marker for one variant
	listShare        = 8

	// toldLonger is by how many seconds a marker has a list of names longer of use than it is, so that not every
	// response that is stored by it writes the marker again.
	toldLonger = 24 * 60 * 60
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

// listIn returns the list in the marker that hit has found; nil if it has none, or it cannot be read.
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

// loadVariantList loads the list of the disk's variants of w's URL into memory before w is put. If memory does not have
// it, it reads the marker, and may wait for that.
func (s *Store) loadVariantList(w *written) {
	if !w.head.Varies() {
		return
	}
	d, url, name := s.disk, w.head.URL(), w.head.URLName()
	if slot := s.index.peek(url); slot != nil && slot.value.disk.known.Load() {
		return
	}
	if r, f, changes := s.loadRecord(url, w.markerHash, markerName(name)); r != nil {
		s.mergeMarker(r, f, changes)
		return
	}
	changes := d.changesOf(url).Load()
	if e, list := d.peekMarker(d.hash(name), name); e != nil { // an earlier version wrote it
		s.mergeVariantList(e, listsIn(e), list, changes)
	}
}

// peekMarker returns the marker under this name, whose hash is h, with the variants that it lists; nil if there is none
// that can be used.
func (d *diskTier) peekMarker(h uint64, name []byte) (e *Entry, list []diskVariant) {
	var hit disk.Hit
	if !d.Holds(h) || !d.Peek(h, name, &hit) {
		return nil, nil
	}
	defer hit.Free()
	if e = d.entryOf(hit.Block); e == nil || !e.isMarker() {
		return nil, nil
	}
	return e, listIn(&hit)
}

// mergeVariantList merges the marker e, which has these lists and lists these variants, into the record in memory.
// Changes is the value of the URL's change counter from before the marker was read.
func (s *Store) mergeVariantList(e *Entry, lists []varyList, list []diskVariant, changes uint32) {
	if len(e.Vary) == 0 {
		return
	}
	o := newObject(e, false)
	s.mu.Lock()
	defer s.unlock()
	if s.disk.changesOf(e.URL).Load() != changes {
		return
	}
	slot := s.mergeListsLocked(o, lists)
	if slot == nil || slot.value.disk.known.Swap(true) {
		return
	}
	v := slot.value.disk
	own := v.all
	many := max(len(list)-s.mostOnDisk(slot), 0) // written by a process that allowed more
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

// mergeListsLocked merges the lists of a marker into the record of its URL, which it returns; nil if there is none.
func (s *Store) mergeListsLocked(marker *Object, lists []varyList) *slot[*record] {
	slot := s.index.peek(marker.URL())
	if slot == nil {
		if slot = s.describeLocked(marker); slot == nil {
			return nil
		}
		only := &slot.value.all()[0]
		only.until, only.told = lists[0].until, lists[0].told
		lists = lists[1:]
	}
	if !slot.value.isOf(marker) {
		return nil
	}
	for _, l := range lists {
		if i := listOf(slot.value.all(), l.names); i < 0 {
			s.addListLocked(slot, l)
		} else if mine := &slot.value.all()[i]; mine.told < l.told {
			mine.until, mine.told = max(mine.until, l.until), l.told
		}
	}
	return slot
}

// listBytes returns the bytes of the index that a list of n variants takes.
func listBytes(n int) int64 {
	if n == 0 {
		return 0
	}
	return diskListBytes + int64(n)*diskVariantBytes
}

// settleListLocked accounts for the new length of slot's list, which had was entries.
func (s *Store) settleListLocked(slot *slot[*record], was int) {
	more := listBytes(len(slot.value.disk.all)) - listBytes(was)
	if more > 0 {
		s.makeIndexRoomLocked(more, slot)
	}
	s.index.resize(slot, more)
}

// mostOnDisk returns how many variants of slot's URL may be on the disk: MaxVariants, or as many as half of the index
// can list beside one variant in memory, whichever is less.
func (s *Store) mostOnDisk(slot *slot[*record]) int {
	r := slot.value
	base := slot.bytes - int64(len(r.keys))*variantBytes - listBytes(len(r.disk.all))
	room := ((s.limits.indexBytes-base-variantBytes)/2 - diskListBytes) / diskVariantBytes
	return int(min(int64(s.limits.maxVariants), max(room, 0)))
}

// listOnDiskLocked lists w, which is on the disk, as the newest variant in slot's record. It evicts others if there are
// too many.
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

// leastUsedOnDiskLocked returns the index of the listed variant of r that was asked for least of late, the oldest of
// several. R lists at least one. It adds the hits on the disk since the hand passed and the uses in memory
// (leastUsedLocked). A variant that has left comes first. W is to take its place.
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

// evictVariantLocked evicts a variant of r to make room. If the disk's index is still being filled and has not reached
// the variant, it is removed when the index reaches it.
func (s *Store) evictVariantLocked(r *record, one diskVariant) {
	s.removeLocked(one.key, r.name, variants)
	if s.disk.forget(one) {
		s.disk.books.variants.Add(1)
	}
}

// removeUnlisted removes o, a variant with this hash on the disk, if it has to be listed and is not. It reports whether
// it did.
func (s *Store) removeUnlisted(o *Object, hash uint64) bool {
	if o.born > s.disk.listedOnly.Load() {
		return false
	}
	s.mu.Lock()
	defer s.unlock()
	if s.disk.landing[hash] > 0 {
		return false
	}
	one := diskVariant{hash: hash, key: o.key}
	slot := s.index.peek(o.URL())
	if slot == nil || !slot.value.describes(o) || !slot.value.disk.known.Load() || slices.Contains(slot.value.disk.all, one) {
		return false
	}
	s.disk.forget(one)
	return true
}

// forget removes a variant from the disk, and reports whether it was there.
func (d *diskTier) forget(one diskVariant) bool {
	held := d.Holds(one.hash)
	d.changesOf(one.key).Add(1)
	d.Remove(one.hash)
	return held
}

// dropOnDiskLocked removes the listed variants of r from the disk. It returns how many of them are not in memory as
// well.
func (s *Store) dropOnDiskLocked(r *record) (objects int) {
	for _, one := range r.disk.all {
		if s.disk.forget(one) && s.ofURLLocked(one.key, r.name) == nil {
			objects++
		}
	}
	return objects
}

// relistLocked writes the marker of slot's record again if it lacks a variant or a list.
func (s *Store) relistLocked(slot *slot[*record]) {
	r, d := slot.value, s.disk
	if d == nil || r.disk.unlisted == 0 && !r.disk.outdated {
		return
	}
	if d.Holds(d.markerHash(r.name)) { // without one they are not found
		_ = s.putMarkerLocked(slot.key, r, d.markerHash(r.name))
	}
}

// putMarkerLocked writes the marker for r, the record of the URL whose hash is url.
func (s *Store) putMarkerLocked(url Key, r *record, markerHash uint64) error {
	d := s.disk
	lists := r.all()
	for i := range lists {
		lists[i].told = max(lists[i].told, min(lists[i].until, math.MaxInt64-toldLonger)+toldLonger)
	}
	e := markerOf(url, r)
	block, err := d.blockOf(e)
	if err != nil {
		return err
	}
	d.changesOf(url).Add(1)
	if err = d.Put(markerHash, e.Name, block, r.disk.appendList(make([]byte, 0, listedBytes*len(r.disk.all)))); err == nil {
		r.disk.unlisted, r.disk.outdated = 0, false
	}
	return err
}

// relistAllLocked calls relistLocked for all records.
func (s *Store) relistAllLocked() {
	for slot := s.index.ring.next; slot != &s.index.ring; slot = slot.next {
		s.relistLocked(slot)
	}
}
