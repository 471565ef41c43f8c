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

// appenders write records to the ends of segments. Only the writer uses them.
type appenders struct {
	reclaimer
	loader   *loader
	open     [2]*appender // the segments of small and of large records; nil: none yet
	idle     []*appender  // segments for drafts that none uses
	headRoom []byte       // memory for the head of the next record
	serial   uint64       // serial of the last record
	numbers  uint64       // number of the next segment
}

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
	end   int64 // where its bytes end in the file
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
func (w *appenders) begin(kind layout.Kind, alone bool) (*appender, error) {
	number := w.numbers
	for range slotCount {
		if w.segments.slot(number).Load() == nil {
			break
		}
		number++
	}
	if w.segments.slot(number).Load() != nil {
		return nil, errNoRoom
	}
	var file *device.File
	if err := w.call(func() (err error) {
		file, err = w.dir.Create(segmentName(number), true)
		return noSpace(err)
	}); err != nil {
		return nil, err
	}
	w.numbers = number + 1
	s := &segment{number: number, kind: kind}
	s.refs.Store(1)
	s.file.Store(file)
	s.filling.Do(func() {})
	s.indexed.Store(true)
	a := &appender{seg: s, file: file, alone: alone, buffer: make([]byte, 0, min(bufferBytes, w.head.SegmentBytes/4)), since: w.o.Now()}
	a.buffer = w.head.AppendSegmentHead(a.buffer, layout.SegmentHead{Number: number, Kind: kind})
	w.direct.Store(file.Direct())
	w.segments.begin(s, layout.Page+layout.FooterBytes(0))
	return a, nil
}

// store appends a record. It copies the bytes. L says what becomes of the record: store sets entry and end. After an error nothing is
// appended, and l has been ended.
func (w *appenders) store(r *layout.Record, shape layout.Shape, l pendingRecord) error {
	a, err := w.appender(shape)
	if err != nil {
		w.end(l, r.Hash)
		return err
	}
	offset := a.end()
	before := layout.FooterBytes(a.records())
	l.entry = layout.Entry{Hash: r.Hash, Offset: offset, Bytes: shape.Bytes}
	l.end = offset + shape.Bytes
	a.landing = append(a.landing, l)
	a.serial = max(a.serial, r.Serial)
	w.segments.add(a.seg, shape.Bytes+layout.FooterBytes(a.records())-before)

	if err := w.fillRecord(a, r, shape, offset); err != nil {
		w.giveUp(a)
		return err
	}
	if a.alone {
		return w.seal(shape.Kind())
	}
	return nil
}

// fillRecord appends the bytes of a record for its place.
func (w *appenders) fillRecord(a *appender, r *layout.Record, shape layout.Shape, offset int64) error {
	head := w.head.AppendHead(w.headRoom[:0], r, shape, a.seg.number, offset)
	if cap(head) <= mostHeadKept {
		w.headRoom = head
	}
	if err := w.fill(a, head); err != nil {
		return err
	}
	if err := w.fillZeros(a, shape.BodyAt-int64(len(head))); err != nil {
		return err
	}
	if err := w.fill(a, r.Body); err != nil {
		return err
	}
	return w.fillZeros(a, shape.Bytes-shape.BodyAt-shape.BodyBytes)
}

// mostHeadKept bounds the capacity in bytes of the memory that is kept for the next record's head.
const mostHeadKept = 64 << 10

// zeros are what pads a record.
var zeros [layout.Page]byte

// appender returns the segment that a record of a shape belongs to, with room for it.
func (w *appenders) appender(shape layout.Shape) (*appender, error) {
	kind, segment := shape.Kind(), w.head.SegmentBytes
	at := &w.open[kind-1]
	alone := shape.Bytes+2*layout.Page+layout.FooterBytes(1) > segment
	if *at != nil && (alone || !(*at).fits(shape.Bytes, segment)) {
		_ = w.seal(kind) // even after an error the segment is not open any more
	}
	if *at == nil {
		a, err := w.begin(kind, alone)
		if err != nil {
			return nil, err
		}
		*at = a
	}
	return *at, nil
}

// fill appends b to the buffer, and writes the buffer whenever it is full.
func (w *appenders) fill(a *appender, b []byte) error {
	if len(a.buffer) == 0 && len(b) > 0 {
		a.since = w.o.Now()
	}
	for len(b) > 0 {
		n := min(len(b), cap(a.buffer)-len(a.buffer))
		a.buffer = append(a.buffer, b[:n]...)
		b = b[n:]
		if len(a.buffer) == cap(a.buffer) {
			if err := w.write(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillZeros is fill for n zeros.
func (w *appenders) fillZeros(a *appender, n int64) error {
	for n > 0 {
		part := min(n, int64(len(zeros)))
		if err := w.fill(a, zeros[:part]); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// flush writes the buffer, up to the end of a page.
func (w *appenders) flush(a *appender) error {
	if pad := layout.Align(a.end(), layout.Page) - a.end(); pad > 0 {
		a.buffer = append(a.buffer, make([]byte, pad)...)
		w.segments.add(a.seg, pad)
	}
	if len(a.buffer) == 0 {
		return nil
	}
	if err := w.write(a); err != nil {
		w.giveUp(a)
		return err
	}
	return nil
}

// write writes the buffer, which is of whole pages, and indexes the records that are complete in the file by then. Removals of the records
// that these replace are logged first.
func (w *appenders) write(a *appender) error {
	for i, l := range a.landing { // before it is written: it may have been replaced by a record that is written already
		if !l.dead && w.isDead(l) {
			w.log.add(w.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
			a.landing[i].dead = true
		}
	}
	if err := w.logRemovals(); err != nil {
		return err
	}
	began := w.o.Now()
	if err := w.call(func() error {
		_, err := a.file.WriteAt(a.buffer, a.at)
		return noSpace(err)
	}); err != nil {
		return err
	}
	n := int64(len(a.buffer))
	w.counts.wrote(n, w.o.Now().Sub(began))
	w.rate.spend(n)
	w.segments.wrote(n)
	a.at += n
	a.buffer = a.buffer[:0]
	w.land(a)
	return nil
}

// isDead reports whether the record was removed or replaced before it was indexed.
func (w *appenders) isDead(l pendingRecord) bool {
	if l.put != nil {
		return w.queue.isGone(l.put)
	}
	_, ok := w.index.Hits(l.entry.Hash, l.from)
	return !ok
}

// land indexes the records that have been written.
func (w *appenders) land(a *appender) {
	w.announce(a)
	n := 0
	for _, l := range a.landing {
		if l.end > a.at {
			break
		}
		n++
		p := place(a.seg.number, l.entry.Offset, l.entry.Bytes)
		landed := false
		if l.put == nil {
			landed = w.index.Swap(l.entry.Hash, l.from, p)
		} else {
			landed = w.queue.finish(l.put, func() {
				if lost, was := w.index.Put(l.entry.Hash, p); was {
					w.lost(lost)
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
			w.log.add(w.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
		}
		if a.seg.kind == layout.Large { // the hand finds its bytes by the entry, if they cannot be freed when the segment is sealed
			a.entries = layout.AppendEntry(a.entries, l.entry)
			w.freeLogged(freeing{seg: a.seg, offset: l.entry.Offset, bytes: l.entry.Bytes, logged: true})
		}
	}
	a.landing = a.landing[:copy(a.landing, a.landing[n:])]
	w.loader.watchIndex()
}

// announce notes the records that land is about to index, so that an index that grows meanwhile misses none.
func (w *appenders) announce(a *appender) {
	for _, l := range a.landing {
		if l.end > a.at {
			return
		}
		w.segments.announce(a.seg, l.entry)
	}
}

// seal ends the open segment of a kind: it writes the footer and syncs once.
func (w *appenders) seal(kind layout.Kind) error {
	a := w.open[kind-1]
	if a == nil {
		return nil
	}
	if err := w.flush(a); err != nil {
		return err
	}
	w.open[kind-1] = nil
	return w.sealOff(a)
}

// sealOff writes the footer of a segment, syncs it, and lets a hand find it.
func (w *appenders) sealOff(a *appender) error {
	t := layout.Trailer{
		Number: a.seg.number, Kind: a.seg.kind, Entries: int64(len(a.entries) / layout.EntryBytes), EntriesAt: a.at,
		Sum: layout.Sum(a.entries), Serial: a.serial,
	}
	a.seg.footer = layout.FooterBytes(t.Entries)
	w.segments.add(a.seg, a.at+a.seg.footer-w.segments.end(a.seg))
	err := w.finish(a.file, a.entries, t)
	if err != nil {
		a.seg.entries = a.entries
	}
	a.seg.seen = w.o.Now()
	w.segments.list(a.seg)
	w.freeWaiting(a.seg)
	return err
}

// finish writes the footer of a segment, and syncs the file.
func (w *appenders) finish(f *device.File, entries []byte, t layout.Trailer) error {
	b := w.head.AppendFooter(make([]byte, 0, max(layout.FooterBytes(t.Entries), bufferBytes/16)), entries, t)
	err := w.call(func() error {
		_, err := f.WriteAt(b, t.EntriesAt)
		return noSpace(err)
	})
	if err == nil {
		w.counts.wrote(int64(len(b)), 0)
		w.rate.spend(int64(len(b)))
		err = w.call(f.Sync)
	}
	if err == nil {
		err = w.call(f.Done)
	}
	return err
}

// giveUp ends a segment that cannot be written to. Its records stay.
func (w *appenders) giveUp(a *appender) {
	if w.open[a.seg.kind-1] != a {
		return
	}
	w.open[a.seg.kind-1] = nil
	cut := w.call(func() error { return a.file.Cut(a.at) })
	for _, l := range a.landing {
		if cut != nil && !l.dead { // it may be in the file, and is found there without a footer
			w.log.add(w.head, layout.Removed{Segment: a.seg.number, Offset: l.entry.Offset})
			w.changed(l.entry.Hash)
		}
		w.end(l, l.entry.Hash)
	}
	a.landing = nil
	_ = w.sealOff(a)
}

// end ends a pending record that is not indexed.
func (w *appenders) end(l pendingRecord, h uint64) {
	if l.put != nil {
		w.queue.finish(l.put, nil)
		w.counts.dropped.Add(1)
	} else if w.index.Remove(h, l.from) {
		w.counts.failedMoves.Add(1)
	}
}

// errNoSpace says that the file system is full.
var errNoSpace = errors.New("the file system is full")

// errNoRoom says that nothing is left to evict.
var errNoRoom = errors.New("disk: nothing left to evict")

// writeAt writes b, of whole pages, to the file of a.
func (w *appenders) writeAt(a *appender, b []byte, offset int64) error {
	began := w.o.Now()
	if err := w.call(func() error {
		_, err := a.file.WriteAt(b, offset)
		return noSpace(err)
	}); err != nil {
		return err
	}
	n := int64(len(b))
	w.counts.wrote(n, w.o.Now().Sub(began))
	w.rate.spend(n)
	w.segments.wrote(n)
	return nil
}
