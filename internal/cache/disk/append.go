package disk

import (
	"errors"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// bufferBytes is the size of one write: less if segments are short.
const bufferBytes = 1 << 20

// flushAfter is how long bytes wait in the buffer for more before they are written.
const flushAfter = 5 * time.Second

// appender is a segment that is being written. It is the writer's.
type appender struct {
	seg     *segment
	file    *device.File
	buffer  []byte          // page-aligned in memory, so that it can be written past the page cache
	at      int64           // where the buffer belongs in the file, a multiple of a page
	entries []byte          // encoded, of the records that are indexed
	landing []pendingRecord // records that are in the file or the buffer and not indexed yet
	serial  uint64
	since   time.Time // when the oldest bytes in the buffer came
	alone   bool      // for one record, however long
}

// pendingRecord is a record that is added to the index once it is written.
type pendingRecord struct {
	entry layout.Entry
	end   int64 // of its bytes in the file
	put   *put  // nil: the record is moved from another segment
	dead  bool  // the log of removals has this record already
	from  index.Place
}

func (a *appender) end() int64 { return a.at + int64(len(a.buffer)) }

// records returns how many records the segment has.
func (a *appender) records() int64 {
	return int64(len(a.entries)/layout.EntryBytes + len(a.landing))
}

// fits reports whether n more bytes and the footer fit in a segment.
func (a *appender) fits(n, segment int64) bool {
	return !a.alone && a.end()+n+layout.FooterBytes(a.records()+1)+layout.Page <= segment
}

// begin starts a segment of a kind.
func (v *volume) begin(kind layout.Kind, alone bool) (*appender, error) {
	number := v.numbers
	for range slotCount {
		if v.slot(number).Load() == nil {
			break
		}
		number++
	}
	if v.slot(number).Load() != nil {
		return nil, errNoRoom
	}
	var file *device.File
	if err := v.call(func() (err error) {
		file, err = v.dir.Create(segmentName(number), true)
		return noSpace(err)
	}); err != nil {
		return nil, err
	}
	v.numbers = number + 1
	s := &segment{number: number, kind: kind}
	s.refs.Store(1)
	s.file.Store(file)
	s.filling.Do(func() {})
	s.indexed.Store(true)
	a := &appender{seg: s, file: file, alone: alone, buffer: make([]byte, 0, min(bufferBytes, v.head.SegmentBytes/4)), since: v.o.Now()}
	a.buffer = v.head.AppendSegmentHead(a.buffer, layout.SegmentHead{Number: number, Kind: kind})
	v.mu.Lock()
	v.segments++
	v.mu.Unlock()
	v.direct.Store(file.Direct())
	v.add(s, layout.Page+layout.FooterBytes(0))
	v.slot(number).Store(s)
	return a, nil
}

// store appends a record. It copies the bytes. L says what becomes of the record: store sets entry and end. After an error nothing is
// appended, and l has been ended.
func (v *volume) store(r *layout.Record, shape layout.Shape, l pendingRecord) error {
	a, err := v.appender(shape)
	if err != nil {
		v.end(l, r.Hash)
		return err
	}
	offset := a.end()
	before := layout.FooterBytes(a.records())
	l.entry = layout.Entry{Hash: r.Hash, Offset: offset, Bytes: shape.Bytes}
	l.end = offset + shape.Bytes
	a.landing = append(a.landing, l)
	a.serial = max(a.serial, r.Serial)
	v.add(a.seg, shape.Bytes+layout.FooterBytes(a.records())-before)

	if err := v.fillRecord(a, r, shape, offset); err != nil {
		v.giveUp(a)
		return err
	}
	if a.alone {
		return v.seal(shape.Kind())
	}
	return nil
}

// fillRecord appends the bytes of a record for its place.
func (v *volume) fillRecord(a *appender, r *layout.Record, shape layout.Shape, offset int64) error {
	head := v.head.AppendHead(v.headRoom[:0], r, shape, a.seg.number, offset)
	if cap(head) <= mostHeadKept {
		v.headRoom = head
	}
	if err := v.fill(a, head); err != nil {
		return err
	}
	if err := v.fillZeros(a, shape.BodyAt-int64(len(head))); err != nil {
		return err
	}
	if err := v.fill(a, r.Body); err != nil {
		return err
	}
	return v.fillZeros(a, shape.Bytes-shape.BodyAt-shape.BodyBytes)
}

// mostHeadKept bounds the capacity in bytes of the memory that is kept for the next record's head.
const mostHeadKept = 64 << 10

// zeros are what pads a record.
var zeros [layout.Page]byte

// appender returns the segment that a record of a shape belongs to, with room for it.
func (v *volume) appender(shape layout.Shape) (*appender, error) {
	kind, segment := shape.Kind(), v.head.SegmentBytes
	at := &v.open[kind-1]
	alone := shape.Bytes+2*layout.Page+layout.FooterBytes(1) > segment
	if *at != nil && (alone || !(*at).fits(shape.Bytes, segment)) {
		_ = v.seal(kind) // even after an error the segment is not open any more
	}
	if *at == nil {
		a, err := v.begin(kind, alone)
		if err != nil {
			return nil, err
		}
		*at = a
	}
	return *at, nil
}

// fill appends b to the buffer, and writes the buffer whenever it is full.
func (v *volume) fill(a *appender, b []byte) error {
	if len(a.buffer) == 0 && len(b) > 0 {
		a.since = v.o.Now()
	}
	for len(b) > 0 {
		n := min(len(b), cap(a.buffer)-len(a.buffer))
		a.buffer = append(a.buffer, b[:n]...)
		b = b[n:]
		if len(a.buffer) == cap(a.buffer) {
			if err := v.write(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillZeros is fill for n zeros.
func (v *volume) fillZeros(a *appender, n int64) error {
	for n > 0 {
		part := min(n, int64(len(zeros)))
		if err := v.fill(a, zeros[:part]); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// flush writes the buffer, up to the end of a page.
func (v *volume) flush(a *appender) error {
	if pad := layout.Align(a.end(), layout.Page) - a.end(); pad > 0 {
		a.buffer = append(a.buffer, make([]byte, pad)...)
		v.add(a.seg, pad)
	}
	if len(a.buffer) == 0 {
		return nil
	}
	if err := v.write(a); err != nil {
		v.giveUp(a)
		return err
	}
	return nil
}

// write writes the buffer, which is of whole pages, and indexes the records that are complete in the file by then. Removals of the records
// that these replace are logged first.
func (v *volume) write(a *appender) error {
	for i, l := range a.landing { // before it is written: it may have been replaced by a record that is written already
		if !l.dead && v.isDead(l) {
			v.log.add(v.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
			a.landing[i].dead = true
		}
	}
	if err := v.logRemovals(); err != nil {
		return err
	}
	began := v.o.Now()
	if err := v.call(func() error {
		_, err := a.file.WriteAt(a.buffer, a.at)
		return noSpace(err)
	}); err != nil {
		return err
	}
	n := int64(len(a.buffer))
	v.counts.wrote(n, v.o.Now().Sub(began))
	v.rate.spend(n)
	v.mu.Lock()
	v.written += uint64(n) //nolint:gosec // above 0
	v.mu.Unlock()
	a.at += n
	a.buffer = a.buffer[:0]
	v.land(a)
	return nil
}

// isDead reports whether the record was removed or replaced before it was indexed.
func (v *volume) isDead(l pendingRecord) bool {
	if l.put != nil {
		return v.queue.isGone(l.put)
	}
	_, ok := v.index.Hits(l.entry.Hash, l.from)
	return !ok
}

// land indexes the records that have been written.
func (v *volume) land(a *appender) {
	v.announce(a)
	n := 0
	for _, l := range a.landing {
		if l.end > a.at {
			break
		}
		n++
		p := place(a.seg.number, l.entry.Offset, l.entry.Bytes)
		landed := false
		if l.put == nil {
			landed = v.index.Swap(l.entry.Hash, l.from, p)
		} else {
			landed = v.queue.finish(l.put, func() {
				if lost, was := v.index.Put(l.entry.Hash, p); was {
					v.lost(lost)
				}
			})
		}
		if landed {
			if l.put == nil || l.put.asked.Load() { // only records that were hit are moved
				a.seg.asked.set(len(a.entries) / layout.EntryBytes)
			}
			a.entries = layout.AppendEntry(a.entries, l.entry)
			continue
		}
		if !l.dead {
			v.log.add(v.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
		}
		if a.seg.kind == layout.Large { // the hand finds its bytes by the entry, if they cannot be freed when the segment is sealed
			a.entries = layout.AppendEntry(a.entries, l.entry)
			v.freeLogged(freeing{seg: a.seg, offset: l.entry.Offset, bytes: l.entry.Bytes, logged: true})
		}
	}
	a.landing = a.landing[:copy(a.landing, a.landing[n:])]
	v.watchIndex()
}

// announce notes the records that land is about to index, so that an index that grows meanwhile misses none.
func (v *volume) announce(a *appender) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range a.landing {
		if l.end > a.at {
			return
		}
		a.seg.fresh = append(a.seg.fresh, index.Entry{Hash: l.entry.Hash, Place: place(a.seg.number, l.entry.Offset, l.entry.Bytes)})
	}
}

// seal ends the open segment of a kind: it writes the footer and syncs once.
func (v *volume) seal(kind layout.Kind) error {
	a := v.open[kind-1]
	if a == nil {
		return nil
	}
	if err := v.flush(a); err != nil {
		return err
	}
	v.open[kind-1] = nil
	return v.sealOff(a)
}

// sealOff writes the footer of a segment, syncs it, and lets a hand find it.
func (v *volume) sealOff(a *appender) error {
	t := layout.Trailer{
		Number: a.seg.number, Kind: a.seg.kind, Entries: int64(len(a.entries) / layout.EntryBytes), EntriesAt: a.at,
		Sum: layout.Sum(a.entries), Serial: a.serial,
	}
	a.seg.footer = layout.FooterBytes(t.Entries)
	v.add(a.seg, a.at+a.seg.footer-a.seg.end(v))
	err := v.finish(a.file, a.entries, t)
	if err != nil {
		a.seg.entries = a.entries
	}
	v.list(a.seg)
	v.freeWaiting(a.seg)
	return err
}

// finish writes the footer of a segment, and syncs the file.
func (v *volume) finish(f *device.File, entries []byte, t layout.Trailer) error {
	b := v.head.AppendFooter(make([]byte, 0, max(layout.FooterBytes(t.Entries), bufferBytes/16)), entries, t)
	err := v.call(func() error {
		_, err := f.WriteAt(b, t.EntriesAt)
		return noSpace(err)
	})
	if err == nil {
		v.counts.wrote(int64(len(b)), 0)
		v.rate.spend(int64(len(b)))
		err = v.call(f.Sync)
	}
	if err == nil {
		err = v.call(f.Done)
	}
	return err
}

// list lets a hand find s.
func (v *volume) list(s *segment) {
	s.seen = v.o.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.listed, s.fresh = true, nil
	s.visited = v.written
	if s.kind == layout.Large && v.punches.Load() {
		v.large = insert(v.large, s)
	} else {
		v.small = insert(v.small, s)
	}
}

// giveUp ends a segment that cannot be written to. Its records stay.
func (v *volume) giveUp(a *appender) {
	if v.open[a.seg.kind-1] != a {
		return
	}
	v.open[a.seg.kind-1] = nil
	cut := v.call(func() error { return a.file.Cut(a.at) })
	for _, l := range a.landing {
		if cut != nil && !l.dead { // it may be in the file, and is found there without a footer
			v.log.add(v.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
			v.changed(l.entry.Hash)
		}
		v.end(l, l.entry.Hash)
	}
	a.landing = nil
	_ = v.sealOff(a)
}

// end ends a pending record that is not indexed.
func (v *volume) end(l pendingRecord, h uint64) {
	if l.put != nil {
		v.queue.finish(l.put, nil)
		v.counts.dropped.Add(1)
	} else if v.index.Remove(h, l.from) {
		v.counts.failedMoves.Add(1)
	}
}

// errNoSpace says that the file system is full.
var errNoSpace = errors.New("the file system is full")

// errNoRoom says that nothing is left to evict.
var errNoRoom = errors.New("disk: nothing left to evict")
