package cache

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Bytes the index takes beside names: one record with its slot and its share of
// a map, and one variant's Key with the spare capacity that append leaves.
const (
	recordOverhead = 188
	variantBytes   = 32
)

// indexChances protects URLs that are requested often, yet leaves a new URL the time in which a quarter of the index is
// replaced.
const indexChances = 3

// record lists the variants of a URL that a tier holds. Every variant held is in a record. So dropping a record drops
// all its variants, and none stays behind where no look-up would find it. Name never changes, lists is replaced as a
// whole, and the rest is the writer's.
type record struct {
	name  []byte                     // the URL part of the canonical key
	first [1]varyList                // the lists, while there is only one
	lists atomic.Pointer[[]varyList] // in the order in which they came; nil: first
	keys  []Key                      // keys of the variants, oldest first; some may have left
	aged  int64                      // the second at which their uses were halved last; 0: never
	disk  *diskVariants              // nil: there is no disk
}

// recordBytes returns the bytes of a record without variants, for a URL part and Vary names of these lengths.
func recordBytes(urlName int, names int64) int64 {
	return recordOverhead + int64(urlName) + names
}

// newRecord returns a record for o. It keeps no reference to o.
func newRecord(o *Object) *record {
	return &record{name: bytes.Clone(o.URLName()), first: [1]varyList{listFor(o)}}
}

// listFor returns the list of o, of which nothing else is known. It keeps no reference to o.
func listFor(o *Object) varyList {
	return varyList{names: strings.Split(strings.Clone(o.vary()), varySeparator), until: o.usefulUntil()}
}

// newRecord is newRecord for the index of the memory tier.
func (s *Store) newRecord(o *Object) *record {
	r := newRecord(o)
	if s.disk != nil {
		r.disk = &diskVariants{}
	}
	return r
}

// fileLocked lists o, which the URL takes by its list, among the variants of its URL.
func (s *Store) fileLocked(o *Object) {
	if slot := s.describeLocked(o); slot != nil {
		s.listLocked(slot, o)
	}
}

// isOf reports whether r is the record of o's URL, and not of one with the same hash.
func (r *record) isOf(o *Object) bool { return bytes.Equal(r.name, o.URLName()) }

// describes reports whether r is the record of o's URL and has its list, so that a look-up finds o by it.
func (r *record) describes(o *Object) bool { return r.isOf(o) && r.has(o) }

// listLocked makes o the newest variant in slot's record. If that would exceed the bound, variants that main has
// evicted are unlisted first. Then the oldest staged variants are evicted, then the least used of the memory tier.
func (s *Store) listLocked(slot *slot[*record], o *Object) {
	r, k := slot.value, o.key
	s.strikeLocked(slot, func(other Key) bool { return other == k })
	if s.fullLocked(slot) || len(r.keys)+len(s.stage.rivals(o)) >= s.limits.maxVariants {
		s.strikeLocked(slot, func(other Key) bool { return s.heldLocked(other) == nil })
		s.limitRivalsLocked(o, s.limits.maxVariants-len(r.keys)-1)
	}
	for s.fullLocked(slot) {
		least := s.leastUsedLocked(r, o.ResponseTime())
		s.removeLocked(least, r.name, variants)
		s.strikeLocked(slot, func(other Key) bool { return other == least })
	}
	s.makeIndexRoomLocked(variantBytes, slot)
	r.keys = append(r.keys, k)
	s.index.resize(slot, variantBytes)
}

// usesHalve is after how many seconds the uses of variants are halved while there are too many variants.
const usesHalve = 60

// leastUsedLocked returns the variant of r, at least one, that was asked for least of late, the oldest of several. Now
// is when the response that takes its place was received. Uses decay with time and not with arrivals: so variants that
// somebody makes up evict each other, and none that others ask for.
func (s *Store) leastUsedLocked(r *record, now time.Time) Key {
	halve := r.fades(now)
	least, fewest := r.keys[0], uint32(math.MaxUint32)
	for _, k := range r.keys {
		it := s.heldLocked(k)
		if it == nil {
			return k
		}
		if halve {
			it.fade()
		}
		if uses := it.uses(); uses < fewest {
			least, fewest = k, uses
		}
	}
	return least
}

// fades reports whether the uses of r's variants are to be halved now.
func (r *record) fades(now time.Time) bool {
	at := now.Unix()
	halve := r.aged != 0 && (at-r.aged >= usesHalve || at < r.aged) // earlier: the clock was set back
	if halve || r.aged == 0 {
		r.aged = at
	}
	return halve
}

// fullLocked reports whether one more variant is too many: for MaxVariants, or for an index that holds only this
// record.
func (s *Store) fullLocked(slot *slot[*record]) bool {
	return len(slot.value.keys) >= s.limits.maxVariants ||
		slot.bytes+variantBytes > s.limits.indexBytes
}

func (s *Store) strikeLocked(slot *slot[*record], gone func(Key) bool) {
	r := slot.value
	before := len(r.keys)
	r.keys = slices.DeleteFunc(r.keys, gone)
	s.index.resize(slot, int64(len(r.keys)-before)*variantBytes)
}

// makeIndexRoomLocked drops the oldest records, but never keep, until the index has room for size more bytes. With keep
// alone in the index that room must exist.
func (s *Store) makeIndexRoomLocked(size int64, keep *slot[*record]) {
	for s.index.bytes.Load()+size > s.limits.indexBytes {
		oldest := s.index.oldest()
		if oldest == keep {
			s.index.renew(keep)
			continue
		}
		s.dropLocked(oldest, variants)
	}
}

// forgetLocked drops the record of a URL with its variants. It returns how many entries left.
func (s *Store) forgetLocked(url Key, name []byte, why departure) int {
	slot := s.index.peek(url)
	if slot == nil || !bytes.Equal(slot.value.name, name) {
		return 0
	}
	return s.dropLocked(slot, why)
}

// dropLocked drops slot's record with its variants. It returns how many entries left. If the reason is lack of room in
// the index, the variants on the disk stay there, and their marker lists them.
func (s *Store) dropLocked(slot *slot[*record], why departure) (objects int) {
	s.index.remove(slot)
	if why == variants {
		s.relistLocked(slot)
	} else if s.disk != nil {
		objects += s.dropOnDiskLocked(slot.value)
	}
	for _, k := range slot.value.keys {
		if s.removeLocked(k, slot.value.name, why) {
			objects++
		}
	}
	return objects
}
