package cache

import (
	"bytes"
	"slices"

	"edgeproxy/internal/cache/buffer"
	"edgeproxy/internal/conn/pinned"
)

// Outcome is the result of a Put or PutStage.
type Outcome uint8

// The outcomes.
const (
	Stored     Outcome = iota + 1
	TooLarge           // see Takes and PutStage; the entry stored before stays
	Purged             // unless said so; nothing was changed
	Superseded         // from PutStage: an admitted entry has its place; nothing was changed
	Joined             // from Put: stored, sharing the equal content of another variant
	InDemand           // from Put: stored in memory, since the disk was busy and the key is in demand
	DiskBusy           // the write queue of the Disk is full; nothing is stored under the key
	OverRate           // the Disk's write rate is exceeded; nothing is stored under the key
	VaryLimit          // the URL varies by too many lists or names: see TakesVary; the entry stored before stays
)

// String returns the word for the outcome.
func (o Outcome) String() string {
	switch o {
	case Stored:
		return "stored"
	case TooLarge:
		return "too-large"
	case Purged:
		return "purged"
	case Superseded:
		return "superseded"
	case Joined:
		return "joined"
	case InDemand:
		return "in-demand"
	case DiskBusy:
		return "disk-busy"
	case OverRate:
		return "write-rate"
	case VaryLimit:
		return "vary-limit"
	}
	return "unknown"
}

// Takes reports whether an entry with the head of e (all but its content) and bytes of content is small enough to be
// stored. Admitted says whether admission lets it in or holds it back. A nil e stands for a head of usual size: key and
// header together under 64 KiB. If it is held back, nil stands for an empty head. Without a stage nothing is taken that
// is held back.
func (s *Store) Takes(bytes int64, e *Entry, admitted bool) bool {
	if bytes > s.limits.maxObjectBytes {
		if !admitted || bytes > s.limits.maxDiskObjectBytes {
			return false
		}
		bytes = 0 // only its head counts
	}
	if e == nil {
		e = &Entry{}
	}
	w := e.weightWith(bytes)
	if w.all() > s.limits.windowBytes || w.record > 0 && w.record+variantBytes > s.limits.indexBytes {
		return false
	}
	return admitted || w.staged() <= s.limits.stageBytes
}

// Put stores e in the memory tier. It replaces the entry under the same key, staged or not. When it returns Stored or
// Joined, Find finds e there at once. It copies e: see Entry.
//
// Where there is a Disk, Put stores e there instead. Then Load finds it at once, and nobody may write to its content
// any more. If the disk refuses e, nothing stays under the key there (DiskBusy, OverRate), but a copy in memory is
// replaced (InDemand). While the disk is out of use, memory works as without one.
//
// Responses of a URL with different Vary names, or with none, lie beside each other. VaryLimit means that those of e
// are too many (lists.go): then nothing is changed.
//
// Unless, if not nil, is asked at most once whether e was purged while it was fetched; it is not asked if e is too
// large. No write to the cache happens between its answer and the landing of e, so a caller that notes a purge first
// and calls Purge then never finds a purged response stored. It must return quickly and not call the Store.
func (s *Store) Put(e *Entry, unless func() bool) Outcome {
	o, _ := s.put(e, nil, unless)
	return o
}

// put is Put, and tells whether the disk has the content of e now. If b is not nil, the content is that of b.
func (s *Store) put(e *Entry, b *buffer.Buffer, unless func() bool) (o Outcome, onDisk bool) {
	if !s.Takes(e.Content.Size(), e, true) {
		return TooLarge, false
	}
	if s.disk != nil {
		return s.putOnDisk(e, b, unless)
	}
	a := s.arrival(e)
	defer a.free()
	s.mu.Lock()
	defer s.unlock()
	if unless != nil && unless() {
		return Purged, false
	}
	if !s.takesListOfLocked(a.Object) {
		return VaryLimit, false
	}
	return s.putInMemoryLocked(a), false
}

func (s *Store) putInMemoryLocked(a arrival) Outcome {
	if _, shared := s.storeLocked(a, replaced); shared {
		return Joined
	}
	return Stored
}

// Purge removes what is stored for the URL whose key part is name and whose
// hash is url, with all variants, from both tiers, and returns how many entries
// that were.
//
// On the disk it removes the record under name, the marker, and the variants that are known from it. The URL's other
// variants there are found again once a response of the URL varies by the same fields. So a caller that purges leaves a
// mark as well.
func (s *Store) Purge(url Key, name []byte) (objects int) {
	s.mu.Lock()
	defer s.unlock()
	if s.removeLocked(url, name, purged) {
		objects++
	}
	if s.stage.remove(url, name, purged) {
		objects++
	}
	plain := objects > 0 // in memory
	objects += s.forgetLocked(url, name, purged) + s.stage.forget(url, name, purged)
	if s.disk == nil {
		return objects
	}
	if onDisk, marker := s.disk.purge(url, name); onDisk && !plain || marker && objects == 0 {
		objects++
	}
	return objects
}

// Discard removes o, which a look-up returned and which is of no use any more: a purge has reached it, or its content
// cannot be read. It reports false if o is not stored any more; its replacement is left alone. A copy with the same
// Serial is o as well.
//
// It may wait only if o is from the disk.
func (s *Store) Discard(o *Object) bool {
	if s.discardHeld(o) {
		return true
	}
	return o.form&formLoaded != 0 && s.discardOnDisk(o)
}

// discardHeld is Discard for memory. What the disk has under o's name is no later than o then.
func (s *Store) discardHeld(o *Object) bool {
	is := func(it *Object) bool { return it == o || o.serial != 0 && it.serial == o.serial }
	s.mu.Lock()
	defer s.unlock()
	if it := s.heldLocked(o.key); it != nil && is(it) {
		s.leaveLocked(it, purged)
		if s.disk != nil {
			s.disk.remove(o.key, o.Name())
		}
		return true
	}
	if slot := s.stage.items.peek(o.key); slot != nil && is(slot.value) {
		s.stage.leave(slot, purged)
		return true
	}
	return false
}

// storeLocked lands a in the memory tier. What was staged under its Key leaves then, for the reason why.
//
// The entries that make room for it leave before it lands, so that nothing has to move afterwards. It returns what has
// landed, and whether that shares the content of a twin.
func (s *Store) storeLocked(a arrival, why departure) (landed *Object, shared bool) {
	if a.lent && a.Varies() { // other variants may share it
		a = arrival{Object: a.clone()}
	}
	o := a.Object
	s.clearLocked(o)
	if o.Varies() {
		s.fileLocked(o)
	}
	o, shared = s.settleRoomLocked(o)
	if a.lent {
		o = s.main.blocks.land(o)
	}
	s.landLocked(o)
	if staged := s.stage.items.peek(o.key); staged != nil {
		s.stage.leave(staged, why)
	}
	return o, shared
}

// object returns e as an Object. Content in memory above pinned.Least gets a Pin.
func (s *Store) object(e *Entry) *Object {
	if e.fitsBlock() {
		return newObject(e, true)
	}
	stored := *e
	switch {
	case e.Content.kept != nil:
		stored.Pin = nil
	case e.Pin == nil:
		stored.Pin = s.pinned.Body()
	}
	return newObject(&stored, false)
}

// fitsBlock reports whether the content of e is to be in the block of its Object.
func (e *Entry) fitsBlock() bool {
	return e.Content.kept == nil && len(e.Content.bytes) <= pinned.Least
}

// inPlaceLocked returns e as an Object that is to replace old. It has old's content, which other variants may share.
func (s *Store) inPlaceLocked(e *Entry, old *Object) *Object {
	stored := *e
	stored.Content, stored.Pin = old.Content(), old.Pin()
	o := newObject(&stored, s.shares[old] == nil && stored.fitsBlock())
	o.copyMarks(old)
	return o
}

// clearLocked removes the variants of another URL that has the same hash as that of o, which varies: the index has one
// place for both.
func (s *Store) clearLocked(o *Object) {
	if !o.Varies() {
		return
	}
	if slot := s.index.peek(o.URL()); slot != nil && !slot.value.isOf(o) {
		s.dropLocked(slot, replaced)
	}
	if slot := s.stage.urls.peek(o.URL()); slot != nil && !slot.value.isOf(o) {
		s.stage.drop(slot, replaced)
	}
}

// makeRoomLocked moves the oldest entries of the window to the main part until cost more bytes fit; cost is at most the
// window's budget.
//
// Entries that move can be found in the window until main has them, and their bytes count there until then. So window
// and main keep to their budgets at every moment, and so does the sum.
func (s *Store) makeRoomLocked(cost int64) {
	for s.settleLocked(); s.windowFullLocked(cost); s.settleLocked() {
		s.moveOldestLocked(cost)
	}
}

// windowFullLocked reports whether cost more bytes do not fit into the window.
func (s *Store) windowFullLocked(cost int64) bool {
	return s.window.bytes.Load()+cost > s.limits.windowBytes+s.limits.offerBytes
}

// moveOldestLocked moves the oldest entry to main, because the window has no room for cost more bytes. With it go the
// next oldest that have been there for a window's worth of bytes, as one wait serves them all.
func (s *Store) moveOldestLocked(cost int64) {
	var victims [mostOffered]*slot[*Object]
	var objects [mostOffered]*Object
	n := 0
	for v, left := s.window.oldest(), s.window.bytes.Load()+cost; v != nil; v = s.window.next(v) {
		shared := s.shares[v.value] != nil // its move may change other entries
		if n > 0 && (shared || left <= s.limits.windowBytes || collides(objects[:n], v.key)) {
			break
		}
		victims[n], objects[n], left = v, v.value, left-v.bytes
		if n++; shared || n == mostOffered {
			break
		}
	}
	s.main.offer(objects[:n])
	for _, v := range victims[:n] { // all, before any of them is packed
		s.window.remove(v)
	}
	for _, o := range objects[:n] {
		if s.shares[o] == nil { // shared content stays where it is
			s.main.settle(o)
		}
	}
}

// collides reports whether k has the same Key.Hi, by which ristretto indexes, as one of all.
func collides(all []*Object, k Key) bool {
	return slices.ContainsFunc(all, func(o *Object) bool { return o.key.Hi == k.Hi })
}

// unlock finds a host for each orphan and unlocks mu.
func (s *Store) unlock() {
	s.settleLocked()
	s.mu.Unlock()
}

// landLocked puts it into the window. An older entry under its Key leaves after that, so that a look-up always finds
// one of them. It takes over the uses of the older entry, for the variant is the same.
func (s *Store) landLocked(it *Object) {
	cost := s.costLocked(it)
	if s.ranked != nil {
		it.used.Store(s.ranked.advance())
	}
	s.books.landed(it, cost, s.newContentBytesLocked(it))
	if _, old := s.window.put(it.key, it, cost); old != nil {
		it.follow(old.value)
		s.leftLocked(replaced, old.value, old.bytes)
		s.main.blocks.leftWindow(old.value)
	}
	if old := s.main.find(it.key); old != nil {
		it.follow(old)
		s.main.remove(old)
		s.leftLocked(replaced, old, s.costLocked(old))
	}
}

// newContentBytesLocked returns how many bytes of content of it are not shared with a twin.
func (s *Store) newContentBytesLocked(it *Object) int64 {
	if sh := s.shares[it]; sh != nil && sh.host != it {
		return 0
	}
	return it.Content().Size()
}

// heldLocked returns the memory tier's entry under k, nil if there is none.
func (s *Store) heldLocked(k Key) *Object {
	if slot := s.window.peek(k); slot != nil {
		return slot.value
	}
	return s.main.find(k)
}

// removeLocked removes the entry under k from the memory tier if it belongs to
// the URL called name.
func (s *Store) removeLocked(k Key, name []byte, why departure) bool {
	it := s.ofURLLocked(k, name)
	if it == nil {
		return false
	}
	s.leaveLocked(it, why)
	return true
}

// ofURLLocked returns the memory tier's entry under k if it belongs to the URL called name, else nil.
func (s *Store) ofURLLocked(k Key, name []byte) *Object {
	it := s.heldLocked(k)
	if it == nil || !bytes.Equal(it.URLName(), name) {
		return nil
	}
	return it
}

// leaveLocked removes it, which heldLocked has just returned.
func (s *Store) leaveLocked(it *Object, why departure) {
	if slot := s.window.peek(it.key); slot != nil {
		s.window.remove(slot)
		s.main.blocks.leftWindow(it)
	} else {
		s.main.remove(it)
	}
	s.leftLocked(why, it, s.costLocked(it))
}
