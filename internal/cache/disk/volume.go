package disk

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// volume is one opening of a directory, from Open until it is closed or has failed.
type volume struct {
	o        Options
	dir      *device.Dir
	release  func() // of the claim on the directory
	head     layout.Header
	index    *index.Table
	queue    *queue
	pins     *pins // shared by all openings: a record found in an earlier one may still be read
	patches  *patches
	hot      hot
	turns    chan struct{} // semaphore of the reads that wait for the device
	counts   *counts
	readOnly bool
	slots    []atomic.Pointer[segment] // by the low 16 bits of their numbers
	forgot   *hashes                   // hashes put or removed while the index fills, or while the directory was not in use
	missed   *hashes                   // the same for the next opening
	recent   atomic.Pointer[hashes]    // hashes put or removed since the writer last began to settle
	hidden   atomic.Int64              // segments that may have records that are neither in the index nor in the log

	// the writer's
	open      [2]*appender // small, large; nil: none yet
	idle      []*appender  // segments for drafts, and used by none
	drafting  []*reserved  // the ranges of drafts
	headRoom  []byte       // for the head of the next record
	log       *removals
	logNumber uint32         // counts how often the log was written anew
	notes     *device.File   // how far the log was synced (lastremovals.go); nil: not open yet
	noted     statefile.Last // the last note
	noteTurn  uint64         // its turn; 0: there is none
	before    *hashes        // hashes put or removed before recent, while they are not settled; nil: they are
	owed      bool           // the removals of what is in forgot are not settled
	left      []leftover     // files that could not be removed
	unsynced  bool           // the directory has changed since it was last synced
	settled   time.Time      // when the writer last tried to settle
	hand      hand
	stayed    int       // segments of small records that stayed since makeRoom began
	limbo     []freeing // evicted, and still read by someone
	stuck     []freeing // evicted, and not detached yet
	serial    uint64
	numbers   uint64 // number of the next segment
	inARow    int    // consecutive failed calls
	checkedAt time.Time

	calling atomic.Int64 // when the writer's present call began, in ns; 0: none
	slow    atomic.Int64 // reads given up since one was answered
	stop    chan struct{}
	ended   chan struct{} // closed when the writer has ended
	broke   chan struct{} // closed with the first failure
	failure atomic.Pointer[error]
	once    sync.Once
	wg      sync.WaitGroup

	filling atomic.Int64 // records that are about to be filled in
	drafts  atomic.Int64 // number of drafts
	pledged atomic.Int64 // bytes that drafts have reserved together
	rate    rate
	punches atomic.Bool
	lends   atomic.Bool // records may be lent: a hole does not change bytes that are being sent
	short   bool        // the file system has less room than MaxBytes, and that was logged
	direct  atomic.Bool // the last segment's writes
	partial atomic.Bool // there are records, perhaps, that the index has lost or could not reach, and that a later opening may find
	again   bool        // the directory was open before in this process

	growing   sync.Mutex  // held while the index grows
	full      atomic.Bool // the index may not grow any more, and that was logged
	grewBadly time.Time   // when a growth last failed; guarded by growing

	mu           sync.Mutex
	used         int64      // size of the directory once the open segments are sealed
	limit        int64      // of used: MaxBytes, or less where the file system is full
	written      uint64     // bytes written since the first opening
	small, large []*segment // the segment visited longest ago comes first
	segments     int        // files of records
	unfilled     int        // segments that the index has not reached yet
}

// slotCount is how many segments there can be at once.
const slotCount = 1 << 16

func (v *volume) slot(number uint64) *atomic.Pointer[segment] { return &v.slots[number%slotCount] }

// place returns the place of a record, in the form of the index.
func place(number uint64, offset, length int64) index.Place {
	return index.Place{
		Segment: uint16(number % slotCount),   //nolint:gosec // below 65,536
		Offset:  uint32(offset / layout.Unit), //nolint:gosec // a segment has at most 64 MiB
		Class:   layout.Class(length),
	}
}

// newer reports whether a was written later than b, judged by their segments.
func (v *volume) newer(a, b index.Place) bool {
	if a.Segment == b.Segment {
		return a.Offset > b.Offset
	}
	sa, sb := v.slots[a.Segment].Load(), v.slots[b.Segment].Load()
	return sa != nil && (sb == nil || sa.number > sb.number)
}

// fail ends the volume: from now on it finds nothing and accepts nothing.
func (v *volume) fail(err error) {
	v.once.Do(func() {
		v.failure.Store(&err)
		close(v.broke)
	})
}

func (v *volume) failed() bool { return v.failure.Load() != nil }

// call makes one system call of the writer, so that the watch sees how long it takes.
func (v *volume) call(do func() error) error { return v.note(v.watched(do)) }

// watched is call for a call whose failure says nothing of the directory.
func (v *volume) watched(do func() error) error {
	v.calling.Store(v.o.Now().UnixNano())
	err := do()
	v.calling.Store(0)
	return err
}

// failuresToEnd is how many consecutive failed calls make the directory count as failed.
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
func (v *volume) put(p *put) error {
	shape, err := layout.ShapeOf(len(p.Key), len(p.Block), int64(len(p.Body)))
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
		p.shape = shape
		if err = v.queue.add(p); err == nil {
			v.forgot.add(p.Hash)
			if v.failed() { // perhaps the writer has ended, and does not take it
				v.missed.add(p.Hash)
			}
			return nil
		}
	}
	v.remove(p.Hash)
	return err
}

// remove removes the records under h.
func (v *volume) remove(h uint64) {
	v.forgot.add(h) // before the index: an entry that is filled in later is checked here
	v.queue.drop(h)
	v.buryOlder(h)
	v.changed(h)
}

// changed notes that the record under h was replaced or removed, once the writer has been told so. As long as that may not be on the disk, the next
// opening has to know it.
func (v *volume) changed(h uint64) {
	v.recent.Load().add(h)
	if v.failed() {
		v.missed.add(h)
	}
}

// touch counts a hit of the indexed records under h.
func (v *volume) touch(h uint64) {
	var room [16]index.Place
	for _, p := range v.index.Find(h, room[:0]) {
		v.index.Touch(h, p)
	}
}

// hits returns the hits of the indexed record under h, the most of several. It returns 0 and true for one that waits to be written.
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

// buryOlder removes the records under h from the index. It reports whether there were any.
func (v *volume) buryOlder(h uint64) (were bool) {
	var room [16]index.Place
	for _, p := range v.index.FindAll(h, room[:0]) {
		if v.index.Remove(h, p) {
			v.buried(p)
			were = true
		}
	}
	return were
}

// replace is buryOlder for a record that the writer is about to write. While the index fills, forgot has its hash.
func (v *volume) replace(h uint64) {
	if v.buryOlder(h) || v.hidden.Load() > 0 {
		v.changed(h)
	}
}

// buried notes that the record at p is no longer in the index.
func (v *volume) buried(p index.Place) {
	if s := v.slots[p.Segment].Load(); s != nil && !v.readOnly {
		v.queue.addDead(deadRecord{segment: s, offset: int64(p.Offset) * layout.Unit})
	}
}

// lost counts a record that the full index has pushed out.
func (v *volume) lost(index.Place) { // the hand finds its bytes, or the next start
	v.counts.lost.Add(1)
	v.partial.Store(true)
}

// complete is Store.Complete.
func (v *volume) complete() bool {
	if v.readOnly || v.failed() || v.partial.Load() || v.hidden.Load() > 0 {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unfilled == 0
}

// keep waits until all removals so far are on the disk.
func (v *volume) keep() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.keep(), nil)
}

// flushAll waits until all records put so far are written and in the index.
func (v *volume) flushAll() error {
	if v.readOnly {
		return ErrReadOnly
	}
	return v.wait(v.queue.clear(), nil)
}

// wait waits for the writer's answer, until the volume ends. Timeout may be nil.
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
	case err := <-done: // the writer answered just before it ended
		return err
	default:
		return ErrOff
	}
}

// add adds delta to the sizes of s and of the directory.
func (v *volume) add(s *segment, delta int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.length += delta
	v.used += delta
}

// close ends the writer and all other goroutines, and waits for them. The writer seals the open segments if it can.
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
	if v.notes != nil {
		_ = v.notes.Close()
	}
	_ = v.dir.Close()
	v.release()
}
