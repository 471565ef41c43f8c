package disk

import (
	"bytes"
	"errors"
	"slices"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// wholeBytes is the length up to which a record is read at once.
const wholeBytes = layout.AlignFrom + 16<<10

// ErrDamaged says that bytes on the disk are not those that were written. The record was removed.
var ErrDamaged = errors.New("disk: record is damaged")

// ErrSlow says that the disk did not answer in time, or that too many reads wait for it.
var ErrSlow = errors.New("disk: too slow")

// reader finds records. It is safe for concurrent use.
type reader struct {
	*shared
	hot   hot
	turns chan struct{} // semaphore of the reads that wait for the device
}

// find finds the newest record of key. See Store.Find.
func (r *reader) find(hash uint64, key []byte, h *Hit) bool {
	switch {
	case !r.locate(hash, key, h):
		return false
	case h.seg == nil:
		if !r.queue.touch(hash) { // it has just been written
			r.touch(hash)
		}
		r.counts.memoryHits.Add(1)
	default:
		r.index.Touch(hash, h.at)
		r.counts.hits.Add(1)
	}
	return true
}

// locate is find without counting.
func (r *reader) locate(hash uint64, key []byte, h *Hit) bool {
	h.Close()
	if p := r.queue.find(hash, key); p != nil {
		h.Block, h.Body, h.size = p.Block, p.Body, int64(len(p.Body))
		if h.Body == nil {
			h.Body = []byte{}
		}
		return true
	}
	var room, roomNow [16]index.Place
	places := r.index.Find(hash, room[:0])
	for len(places) > 0 && !r.readAny(hash, key, places, h) {
		now := r.index.Find(hash, roomNow[:0])
		if slices.Equal(now, places) {
			return false
		}
		places = append(room[:0], now...) // it may have moved: evict.go rewrites records that are asked for
	}
	return len(places) > 0
}

// readAny reads the newest of the records at places that is that of key into h, if there is one.
func (r *reader) readAny(hash uint64, key []byte, places []index.Place, h *Hit) bool {
	if len(places) > 1 {
		return r.newest(hash, key, places, h)
	}
	return r.read(hash, key, places[0], h)
}

// newest reads the records at all places and leaves the one of key with the highest serial in h. Two records of one key are rare: only after a
// loss of power, or for a moment.
func (r *reader) newest(hash uint64, key []byte, places []index.Place, h *Hit) bool {
	best, serial := -1, uint64(0)
	for i, p := range places {
		if r.read(hash, key, p, h) && (best < 0 || h.head.Serial > serial) {
			best, serial = i, h.head.Serial
		}
		h.Close()
	}
	return best >= 0 && r.read(hash, key, places[best], h)
}

// read reads the record at p into h, if it is that of key. A damaged record is removed.
func (r *reader) read(hash uint64, key []byte, p index.Place, h *Hit) bool {
	if !r.pin(hash, p, h) {
		return false
	}
	err := h.get(key)
	if err == nil {
		h.Serial = h.head.Serial
		h.Patch, h.Patched = r.patches.find(p, h.Serial)
		return true
	}
	h.Close()
	r.reject(hash, p, err)
	return false
}

// pin takes a reference to the segment at p and pins the record, if it is there.
func (r *reader) pin(hash uint64, p index.Place, h *Hit) bool {
	s := r.segments.slots[p.Segment].Load()
	if s == nil {
		r.index.Remove(hash, p) // its segment has left
		return false
	}
	if !s.hold() {
		return false
	}
	r.pins.add(p, 1)
	h.r, h.seg, h.at, h.hash, h.chunkAt = r, s, p, hash, -1
	asked, ok := r.index.Hits(hash, p)
	if ok = ok && !r.failed(); !ok { // after a failure, the next opening may not have seen the pin
		h.Close()
	}
	h.asked = asked
	return ok
}

// errOtherKey says that the record has another key.
var errOtherKey = errors.New("disk: another key")

// wants reports whether a look-up for key takes a record of the key has: nil is any.
func wants(key, has []byte) bool { return key == nil || bytes.Equal(key, has) }

// reject counts why a record could not be used, and removes a damaged one.
func (r *reader) reject(hash uint64, p index.Place, err error) {
	switch {
	case errors.Is(err, errOtherKey):
		r.counts.otherKeys.Add(1)
	case errors.Is(err, ErrSlow):
		r.counts.slowReads.Add(1)
	case !r.index.Remove(hash, p): // it was evicted while it was read
	case errors.Is(err, ErrDamaged):
		r.counts.damaged.Add(1)
		r.buried(p)
	default:
		r.counts.readErrors.Add(1)
		r.buried(p)
	}
}

// touch counts a hit of the indexed records under h.
func (r *reader) touch(h uint64) {
	var room [16]index.Place
	for _, p := range r.index.Find(h, room[:0]) {
		r.index.Touch(h, p)
	}
}

// hits returns the hits of the indexed record under h, the most of several. It returns 0 and true for one that waits to be written.
func (r *reader) hits(h uint64) (hits int, ok bool) {
	ok = r.queue.has(h)
	var room [16]index.Place
	for _, p := range r.index.Find(h, room[:0]) {
		if n, there := r.index.Hits(h, p); there {
			hits, ok = max(hits, n), true
		}
	}
	return hits, ok
}
