package cache

import (
	"bytes"
	"math"
	"slices"
	"time"
)

// Bytes the index takes beside names: one record with its slot and its share of
// a map, and one variant's Key with the room that append leaves for the next.
const (
	recordOverhead = 180
	variantBytes   = 32
)

// indexChances spares URLs in demand, yet leaves a new one the time that a
// quarter of the index takes to be replaced.
const indexChances = 3

// record says which variants of a URL a tier holds. Every variant held is listed
// in a record. So with a record all its variants can be dropped, and none stays
// behind where no look-up would find it. Name and fields never change; keys is
// the writer's.
type record struct {
	name   []byte    // the URL part of the canonical key
	fields []string  // the response's Vary
	keys   []Key     // of the variants, oldest first; some may be gone by now
	aged   time.Time // when their uses were halved last
}

// recordBytes returns the bytes of a record for e without any variant.
func recordBytes(e *Entry) int64 {
	return recordOverhead + int64(len(e.urlName())) + namesBytes(e.Vary)
}

func newRecord(e *Entry) *record {
	return &record{name: bytes.Clone(e.urlName()), fields: e.Vary}
}

// fileLocked lists e among the variants of its URL. If the URL has a record, it
// describes e.
func (s *Store) fileLocked(e *Entry) {
	slot := s.index.peek(e.URL)
	if slot == nil {
		size := recordBytes(e)
		s.makeIndexRoomLocked(size, nil)
		slot, _ = s.index.put(e.URL, newRecord(e), size)
	}
	s.listLocked(slot, e)
}

func (r *record) describes(e *Entry) bool {
	return bytes.Equal(r.name, e.urlName()) && slices.Equal(r.fields, e.Vary)
}

// listLocked makes e the newest variant in the record of slot. If that would be
// one too many, those that main evicted are struck off first, then the oldest of
// the stage go, then the least used of the memory tier.
func (s *Store) listLocked(slot *slot[*record], e *Entry) {
	r, k := slot.value, e.Key
	s.strikeLocked(slot, func(other Key) bool { return other == k })
	if s.fullLocked(slot) || len(r.keys)+len(s.stage.rivals(e)) >= s.limits.maxVariants {
		s.strikeLocked(slot, func(other Key) bool { return s.heldLocked(other) == nil })
		s.limitRivalsLocked(e, s.limits.maxVariants-len(r.keys)-1)
	}
	for s.fullLocked(slot) {
		least := s.leastUsedLocked(r, e.ResponseTime)
		s.removeLocked(least, r.name, variants)
		s.strikeLocked(slot, func(other Key) bool { return other == least })
	}
	s.makeIndexRoomLocked(variantBytes, slot)
	r.keys = append(r.keys, k)
	s.index.resize(slot, variantBytes)
}

// usesHalve is how often the uses of variants are halved, while there are too many.
const usesHalve = time.Minute

// leastUsedLocked returns the variant of r, at least one, that was asked for least of
// late, the oldest of several; now is when the one that takes its place was received.
// Uses fade by the clock and not by what comes: variants that somebody has made up push
// out each other, and none that others ask for.
func (s *Store) leastUsedLocked(r *record, now time.Time) Key {
	halve := !r.aged.IsZero() && now.Sub(r.aged) >= usesHalve
	if halve || r.aged.IsZero() {
		r.aged = now
	}
	least, fewest := r.keys[0], uint32(math.MaxUint32)
	for _, k := range r.keys {
		it := s.heldLocked(k)
		if it == nil {
			return k
		}
		if halve {
			it.uses.Store(it.uses.Load() / 2) // a use meanwhile may be lost
		}
		if uses := it.uses.Load(); uses < fewest {
			least, fewest = k, uses
		}
	}
	return least
}

// fullLocked reports whether one more variant is too many: for MaxVariants, or
// for an index that holds nothing but this record.
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

// makeIndexRoomLocked drops the oldest records, but never keep, until the index
// has room for size more bytes. Alone, keep must leave that room.
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

// forgetLocked drops the record of a URL with its variants and returns how many
// entries went.
func (s *Store) forgetLocked(url Key, name []byte, why departure) int {
	slot := s.index.peek(url)
	if slot == nil || !bytes.Equal(slot.value.name, name) {
		return 0
	}
	return s.dropLocked(slot, why)
}

func (s *Store) dropLocked(slot *slot[*record], why departure) (objects int) {
	s.index.remove(slot)
	for _, k := range slot.value.keys {
		if s.removeLocked(k, slot.value.name, why) {
			objects++
		}
	}
	return objects
}
