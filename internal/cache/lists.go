package cache

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/http/rfc9111"
)

// This file has the lists of names by which the responses of a URL vary. Each response tells its own in Vary, and those
// of one URL may differ: a page varies by Accept-Language, and its form for programs by Accept. A response is stored
// under the key that its own list selects, and answers each request that has the same values of the fields in that list
// (RFC 9111 section 4.1). So a look-up tries each list of the URL, and a new list takes nothing from the others
// (docs/decisions/0131-a-url-has-several-vary-lists.md). A response without Vary lies beside them under the URL's own
// key.

// Bounds of the lists of a URL: a look-up takes one more look for each list, and a name is a part of a key.
const (
	mostLists = 8
	mostNames = 8 // in all lists together
)

// listOverhead is what one more list of a URL takes of the index, without its names.
const listOverhead = 48

// varyList is a list of names, canonical and sorted, by which variants of a URL vary. Only until and told ever change.
type varyList struct {
	names []string
	until int64 // the second at which the last of its responses is of no use any more; the writer's
	told  int64 // the same in the marker, where it is never earlier; the writer's
}

// Lists are the lists of names by which the stored responses of a URL vary. There is none if nothing of the URL is
// stored that varies. Nobody may write to the names.
type Lists struct{ held, staged []varyList }

// Len returns the number of lists.
func (l Lists) Len() int { return len(l.held) + len(l.staged) }

// At returns the names of one list, canonical and sorted.
func (l Lists) At(i int) []string {
	if i < len(l.held) {
		return l.held[i].names
	}
	return l.staged[i-len(l.held)].names
}

// listOf returns the index of the list with these names, -1 if there is none. It reads the names alone, so anyone may
// call it.
func listOf(lists []varyList, names []string) int {
	for i := range lists {
		if slices.Equal(lists[i].names, names) {
			return i
		}
	}
	return -1
}

// covers reports whether lists has all of others.
func covers(lists, others []varyList) bool {
	for i := range others {
		if listOf(lists, others[i].names) < 0 {
			return false
		}
	}
	return true
}

// fits reports whether a URL with these lists may have another one with these names.
func fits(lists []varyList, names []string) bool {
	if len(lists) >= mostLists || len(names) > mostNames {
		return false
	}
	all := append(make([]string, 0, mostNames), names...)
	for i := range lists {
		for _, name := range lists[i].names {
			switch {
			case slices.Contains(all, name):
			case len(all) == mostNames:
				return false
			default:
				all = append(all, name)
			}
		}
	}
	return true
}

// listCost returns what one more list with these names takes of the index.
func listCost(names []string) int64 { return listOverhead + namesBytes(names) }

// all returns the lists of r. Anyone may call it.
func (r *record) all() []varyList {
	if lists := r.lists.Load(); lists != nil {
		return *lists
	}
	return r.first[:]
}

// has reports whether the list of o is one of r. It allocates nothing.
func (r *record) has(o *Object) bool { return r.listOf(o) >= 0 }

func (r *record) listOf(o *Object) int {
	lists := r.all()
	for i := range lists {
		if o.variesBy(lists[i].names) {
			return i
		}
	}
	return -1
}

// add makes l one more list of r.
func (r *record) add(l varyList) {
	next := append(slices.Clip(r.all()), l)
	r.lists.Store(&next)
	if r.disk != nil {
		r.disk.outdated = true
	}
}

// extend notes that a response of one of r's lists can be used until then.
func (r *record) extend(list int, until int64) {
	l := &r.all()[list]
	if l.until = max(l.until, until); r.disk != nil && l.until > l.told {
		r.disk.outdated = true
	}
}

// usefulUntil returns the second at which a response is of no use any more.
func usefulUntil(received time.Time, initialAge time.Duration, p rfc9111.Policy) int64 {
	return received.Add(p.Lifetime - initialAge + p.Keep + time.Second).Unix()
}

func (o *Object) usefulUntil() int64 { return usefulUntil(o.ResponseTime(), o.initialAge, o.Policy()) }

// Vary returns the lists of names by which the responses of a URL vary that are in memory. Name is the key part of the
// URL, and url its hash. It keeps no argument and allocates nothing.
func (s *Store) Vary(url Key, name []byte) (l Lists) {
	if s.limits.stageBytes > 0 { // first: what is promoted meanwhile is in memory then
		if r, ok := s.stage.urls.find(url); ok && bytes.Equal(r.name, name) {
			l.staged = r.all()
		}
	}
	if r, ok := s.index.find(url); ok && bytes.Equal(r.name, name) {
		if l.held = r.all(); covers(l.held, l.staged) {
			l.staged = nil
		}
	}
	return l
}

// TakesVary reports whether e may be stored beside the responses of its URL by what they vary by. If not, its list
// would be one too many. Put asks again.
func (s *Store) TakesVary(e *Entry) bool {
	if len(e.Vary) == 0 {
		return true
	}
	slot := s.index.peek(e.URL)
	if slot == nil || !bytes.Equal(slot.value.name, e.urlName()) {
		return len(e.Vary) <= mostNames
	}
	if lists := slot.value.all(); listOf(lists, e.Vary) >= 0 || fits(lists, e.Vary) { // the usual case
		return true
	}
	s.mu.Lock()
	defer s.unlock()
	return s.takesListLocked(e.URL, e.urlName(), e.Vary, e.ResponseTime)
}

// takesListOfLocked is TakesVary for an Object.
func (s *Store) takesListOfLocked(o *Object) bool {
	if !o.Varies() {
		return true
	}
	slot := s.index.peek(o.URL())
	switch {
	case slot == nil:
		return strings.Count(o.vary(), varySeparator) < mostNames
	case slot.value.describes(o): // the usual case
		return true
	}
	return s.takesListLocked(o.URL(), o.URLName(), o.Vary(), o.ResponseTime())
}

// takesListLocked reports whether a URL may have variants by these names, of which a response came at now. If they are
// too many, lists without a response that could be used then make room.
func (s *Store) takesListLocked(url Key, name []byte, names []string, now time.Time) bool {
	if len(names) > mostNames {
		return false
	}
	slot := s.index.peek(url)
	if slot == nil || !bytes.Equal(slot.value.name, name) { // another URL with the same hash gives way
		return true
	}
	if listOf(slot.value.all(), names) >= 0 || s.listFits(slot, names) {
		return true
	}
	s.dropListsLocked(slot, now.Unix())
	return s.index.peek(url) == nil || s.listFits(slot, names)
}

// listFits reports whether slot's record may have another list with these names: without its variants, and with one, it
// has to fit the index.
func (s *Store) listFits(slot *slot[*record], names []string) bool {
	base := slot.bytes - int64(len(slot.value.keys))*variantBytes
	return fits(slot.value.all(), names) && base+listCost(names)+variantBytes <= s.limits.indexBytes
}

// dropListsLocked removes from slot's record the lists by which nothing is stored, and those of which nothing could be
// used at now, with their variants. If it was all of them, the record is dropped.
func (s *Store) dropListsLocked(slot *slot[*record], now int64) {
	r := slot.value
	var kept []varyList
	var freed int64
	for _, l := range r.all() {
		if l.until >= now && s.storesByLocked(r, l.names) {
			kept = append(kept, l)
			continue
		}
		freed += listCost(l.names)
		for _, k := range r.keys {
			if it := s.ofURLLocked(k, r.name); it != nil && it.variesBy(l.names) {
				s.leaveLocked(it, variants)
			}
		}
	}
	switch {
	case kept == nil:
		s.dropLocked(slot, replaced)
	case freed > 0:
		r.lists.Store(&kept)
		if r.disk != nil {
			r.disk.outdated = true
		}
		s.index.resize(slot, -freed)
		s.strikeLocked(slot, func(k Key) bool { return s.heldLocked(k) == nil })
	}
}

// storesByLocked reports whether a variant by these names may be stored. It does not know by which names those vary
// that are only on the disk.
func (s *Store) storesByLocked(r *record, names []string) bool {
	if r.disk != nil && slices.ContainsFunc(r.disk.all, func(one diskVariant) bool { return s.disk.Holds(one.hash) }) {
		return true
	}
	return slices.ContainsFunc(r.keys, func(k Key) bool {
		it := s.ofURLLocked(k, r.name)
		return it != nil && it.variesBy(names)
	})
}

// describeLocked returns the record of o's URL in the index, which has the list of o then. It makes one if there is
// none, and adds the list if it is missing. It returns nil if the index is too small, the list is one too many, or
// another URL has the same hash.
func (s *Store) describeLocked(o *Object) *slot[*record] {
	slot := s.index.peek(o.URL())
	if slot != nil && !slot.value.isOf(o) {
		return nil
	}
	if slot == nil {
		size := o.weight().record
		if size+variantBytes > s.limits.indexBytes {
			return nil
		}
		s.makeIndexRoomLocked(size, nil)
		slot, _ = s.index.put(o.URL(), s.newRecord(o), size)
		return slot
	}
	if i := slot.value.listOf(o); i >= 0 {
		slot.value.extend(i, o.usefulUntil())
		return slot
	}
	if s.addListLocked(slot, listFor(o)) {
		return slot
	}
	return nil
}

// addListLocked makes l one more list of slot's record if it may have another. Variants make room for it in an index
// that is too small.
func (s *Store) addListLocked(slot *slot[*record], l varyList) bool {
	if !s.listFits(slot, l.names) {
		return false
	}
	r, size := slot.value, listCost(l.names)
	for slot.bytes+size+variantBytes > s.limits.indexBytes {
		least := s.leastUsedLocked(r, time.Unix(r.aged, 0))
		s.removeLocked(least, r.name, variants)
		s.strikeLocked(slot, func(k Key) bool { return k == least })
	}
	s.makeIndexRoomLocked(size, slot)
	r.add(l)
	s.index.resize(slot, size)
	return true
}
