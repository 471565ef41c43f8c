package disk

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/index"
	"edgeproxy/internal/cache/disk/layout"
)

// volume is one opening of a directory, from Open until it is closed or has failed.
type volume struct {
	o        Options
	dir      *device.Dir
	release  func() // of the claim on the directory
	head     layout.Header
	index    *index.Table
	queue    *queue
	pins     *pins // of all openings: what was found in an earlier one may still be read
	patches  *patches
	hot      hot
	turns    chan struct{} // of reads that may wait for the device
	counts   *counts
	readOnly bool
	slots    []atomic.Pointer[segment] // by the low 16 bits of their numbers
	forgot   *hashes                   // what was put or removed while the index fills, or while the directory was not in use
	missed   *hashes                   // the same for the next opening

	// the writer's
	open      [2]*appender // small, large; nil: none yet
	idle      []*appender  // for drafts, and used by none
	drafting  []*reserved  // what drafts have
	log       *removals
	hand      hand
	stayed    int       // segments of small records that stayed since makeRoom began
	limbo     []freeing // evicted, and still being read
	stuck     []freeing // evicted, and not detached yet
	serial    uint64
	numbers   uint64 // of the next segment
	inARow    int    // calls that failed, one after the other
	checkedAt time.Time

	calling atomic.Int64 // when the writer's present call began, in ns; 0: none
	slow    atomic.Int64 // reads given up since one was answered
	stop    chan struct{}
	ended   chan struct{} // closed when the writer does nothing more
	broke   chan struct{} // closed with the first failure
	failure atomic.Pointer[error]
	once    sync.Once
	wg      sync.WaitGroup

	filling atomic.Int64 // records that are about to be filled in
	drafts  atomic.Int64 // that there are
	pledged atomic.Int64 // bytes that they may take together
	rate    rate
	punches atomic.Bool
	lends   atomic.Bool // files may be given away: what is being sent from them is not changed by a hole
	short   bool        // the file system has less room than MaxBytes, and that was said
	direct  atomic.Bool // the last segment's writes
	again   bool        // the directory was open before in this process

	growing   sync.Mutex  // held while the index grows
	full      atomic.Bool // it may not grow any more, and that was said
	grewBadly time.Time   // when it could not; guarded by growing

	mu           sync.Mutex
	used         int64      // bytes that the directory has or will have when what is open is sealed
	limit        int64      // of used: MaxBytes, or less where the file system is full
	written      uint64     // bytes, since the first opening
	small, large []*segment // that first which was looked at longest ago
	segments     int        // files of records
	unfilled     int        // of these, those that the index does not have yet
}

// slotCount is how many segments can be there at once.
const slotCount = 1 << 16

func (v *volume) slot(number uint64) *atomic.Pointer[segment] { return &v.slots[number%slotCount] }

// place returns where e lies, as the index has it.
func place(number uint64, offset, length int64) index.Place {
	return index.Place{
		Segment: uint16(number % slotCount),   //nolint:gosec // below 65,536
		Offset:  uint32(offset / layout.Unit), //nolint:gosec // a segment has at most 64 MiB
		Class:   layout.Class(length),
	}
}

// newer reports whether a was written later than b, as far as their segments say.
func (v *volume) newer(a, b index.Place) bool {
	if a.Segment == b.Segment {
		return a.Offset > b.Offset
	}
	sa, sb := v.slots[a.Segment].Load(), v.slots[b.Segment].Load()
	return sa != nil && (sb == nil || sa.number > sb.number)
}

// fail ends the volume: from now on it finds and takes nothing.
func (v *volume) fail(err error) {
	v.once.Do(func() {
		v.failure.Store(&err)
		close(v.broke)
	})
}

func (v *volume) failed() bool { return v.failure.Load() != nil }

// call makes one call of the writer, so that the watch sees how long it takes.
func (v *volume) call(do func() error) error {
	v.calling.Store(v.o.Now().UnixNano())
	err := do()
	v.calling.Store(0)
	return v.note(err)
}

// failuresToEnd is how many calls may fail one after the other before the directory counts as failed.
const failuresToEnd = 4

// note counts a failure.
func (v *volume) note(err error) error {
	switch {
	case err == nil:
		v.inARow = 0
	case errors.Is(err, errNoSpace):
		v.counts.noSpace.Add(1)
	case errors.Is(err, device.ErrUnsupported), errors.Is(err, device.ErrCached):
	default:
		v.counts.writeErrors.Add(1)
		if v.inARow++; v.inARow >= failuresToEnd {
			v.fail(err)
		}
	}
	return err
}

// put takes a record. See Store.Put.
func (v *volume) put(r layout.Record) error {
	shape, err := layout.ShapeOf(len(r.Key), len(r.Block), int64(len(r.Body)))
	switch {
	case err != nil || shape.BodyBytes > v.o.MaxObjectBytes:
		err = ErrTooLarge
	case v.readOnly:
		err = ErrReadOnly
	case v.failed():
		err = ErrOff
	case !v.rate.allows(v.o.Now()):
		err = ErrRate
	default:
		if err = v.queue.add(&put{Record: r, shape: shape}); err == nil {
			v.forgot.add(r.Hash)
			return nil
		}
	}
	v.remove(r.Hash)
	return err
}

// remove forgets what is under h.
func (v *volume) remove(h uint64) {
	if v.failed() {
		v.missed.add(h)
	}
	v.forgot.add(h) // before the index is asked: what is filled in later is looked up here
	v.queue.drop(h)
	v.buryOlder(h)
}

// touch counts a hit of what the index has for h.
func (v *volume) touch(h uint64) {
	var room [16]index.Place
	for _, p := range v.index.Find(h, room[:0]) {
		v.index.Touch(h, p)
	}
}

// hits returns the hits of what the index has for h, the most of several; true also of what waits to be written, which has none.
func (v *volume) hits(h uint64) (hits int, ok bool) {
	ok = v.queue.has(h)
	var room [16]index.Place
	for _, p := range v.index.Find(h, room[:0]) {
		if n, there := v.index.Hits(h, p); there {
			hits, ok = max(hits, n), true
		}
	}
	return hits, ok
}

// buryOlder takes out of the index what it has for h.
func (v *volume) buryOlder(h uint64) {
	var room [16]index.Place
	for _, p := range v.index.FindAll(h, room[:0]) {
		if v.index.Remove(h, p) {
			v.buried(p)
		}
	}
}

// buried notes that the index no longer has the record at p.
func (v *volume) buried(p index.Place) {
	if s := v.slots[p.Segment].Load(); s != nil && !v.readOnly {
		v.queue.bury(death{segment: s, offset: int64(p.Offset) * layout.Unit})
	}
}

// lost notes what the index has pushed out for want of room.
func (v *volume) lost(index.Place) { v.counts.lost.Add(1) } // the hand finds its bytes

// keep waits until all removals are on the disk.
func (v *volume) keep() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.keep(), nil)
}

// flushAll waits until all that was put before is written and in the index.
func (v *volume) flushAll() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.clear(), nil)
}

// wait waits for what the writer answers, until the volume ends. Timeout may be nil.
func (v *volume) wait(done chan error, timeout <-chan time.Time) error {
	select {
	case err := <-done:
		return err
	case <-timeout:
		return ErrSlow
	case <-v.broke:
		return *v.failure.Load()
	case <-v.ended:
	}
	select {
	case err := <-done: // with its last words
		return err
	default:
		return ErrOff
	}
}

// add adjusts what the directory has.
func (v *volume) add(s *segment, delta int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.length += delta
	v.used += delta
}

// close ends the writer and waits for it and for all else; it seals what is open where that is possible.
func (v *volume) close() {
	close(v.stop)
	v.wg.Wait()
	for i := range v.slots {
		if s := v.slots[i].Swap(nil); s != nil {
			s.letGo()
		}
	}
	if v.log != nil {
		_ = v.log.file.Close()
	}
	_ = v.dir.Close()
	v.release()
}
