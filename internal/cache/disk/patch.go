package disk

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// Patch is a note of the caller about a record after it was put, such as what a 304 has renewed. The package does not interpret it.
type Patch [layout.PatchBytes]byte

// ErrNotFound says that a record is not there, or not any more.
var ErrNotFound = errors.New("disk: not found")

// Patch attaches p to the record of key, whose hash is h: to the one with this serial (Hit.Serial), and to no later one. From then on Find
// returns p and no earlier Patch. It is logged soon, and survives a kill then, or a failure of the directory; when the record is rewritten, Options.Fold gets it. Patch may
// wait for the device, as Find does. Errors: ErrNotFound, also for a record that waits to be written, ErrBusy if too many have one, ErrSlow,
// ErrReadOnly, ErrOff.
func (s *Store) Patch(h uint64, key []byte, serial uint64, p Patch) error {
	v := s.volume.Load()
	if v == nil {
		return ErrOff
	}
	return v.reader.patch(h, key, serial, p)
}

func (r *reader) patch(hash uint64, key []byte, serial uint64, p Patch) error {
	switch {
	case r.readOnly:
		return ErrReadOnly
	case r.failed():
		return ErrOff
	}
	var room [16]index.Place
	var h Hit
	defer h.Close()
	slow := false
	for _, at := range r.index.Find(hash, room[:0]) {
		if !r.pin(hash, at, &h) {
			continue
		}
		head, err := h.readHead()
		number := h.seg.number
		h.Close()
		slow = slow || errors.Is(err, ErrSlow)
		if err != nil || head.Serial != serial || !bytes.Equal(head.Key, key) {
			continue
		}
		if !r.patches.put(at, patched{number: number, serial: serial, hash: hash, bytes: p}) {
			return ErrBusy
		}
		r.queue.patch(layout.Patched{Segment: number, Offset: int64(at.Offset) * layout.Unit, Serial: serial, Bytes: p})
		return nil
	}
	if slow {
		return ErrSlow
	}
	return ErrNotFound
}

// patched is a Patch with its record. Places are reused, serials are not.
type patched struct {
	number uint64 // number of the segment
	serial uint64
	hash   uint64 // 0: unknown
	bytes  Patch
}

// patches maps records to their patches, by place. It is safe for concurrent use.
type patches struct {
	count atomic.Int64

	mu       sync.RWMutex
	bound    int64
	prunedAt time.Time
	at       map[uint16]map[uint32]patched // patches under their segment and offset
}

func newPatches(bound int) *patches {
	return &patches{bound: int64(bound), at: map[uint16]map[uint32]patched{}}
}

// put adds p, unless there are too many.
func (t *patches) put(at index.Place, p patched) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.at[at.Segment]
	if _, ok := of[at.Offset]; !ok {
		if t.count.Load() >= t.bound {
			return false
		}
		t.count.Add(1)
	}
	if of == nil {
		of = map[uint32]patched{}
		t.at[at.Segment] = of
	}
	of[at.Offset] = p
	return true
}

// find returns the Patch of the record at a place with this serial.
func (t *patches) find(at index.Place, serial uint64) (Patch, bool) {
	if t.count.Load() == 0 {
		return Patch{}, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	p, ok := t.at[at.Segment][at.Offset]
	return p.bytes, ok && p.serial == serial
}

// drop removes the patches of a segment that has left.
func (t *patches) drop(segment uint16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.Add(-int64(len(t.at[segment])))
	delete(t.at, segment)
}

// prune removes the patches of records that are no longer in the index, if there are nearly too many: once a minute at most.
func (t *patches) prune(now time.Time, x *index.Table) {
	if t.count.Load() < t.bound*7/8 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if past := now.Sub(t.prunedAt); past >= 0 && past < time.Minute {
		return
	}
	t.prunedAt = now
	for segment, of := range t.at {
		for offset, p := range of {
			if p.hash != 0 && !holdsAt(x, p.hash, segment, offset) {
				delete(of, offset)
				t.count.Add(-1)
			}
		}
	}
}

// holdsAt reports whether x has a record of hash h at that place, of any class.
func holdsAt(x *index.Table, h uint64, segment uint16, offset uint32) bool {
	var room [16]index.Place
	for _, p := range x.Find(h, room[:0]) {
		if p.Segment == segment && p.Offset == offset {
			return true
		}
	}
	return false
}

// appendAll appends all patches in the form of the log.
func (t *patches) appendAll(b []byte, h layout.Header) []byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, of := range t.at {
		for offset, p := range of {
			b = h.AppendPatched(b, layout.Patched{Segment: p.number, Offset: int64(offset) * layout.Unit, Serial: p.serial, Bytes: p.bytes})
		}
	}
	return b
}
