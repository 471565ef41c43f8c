package disk

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// loader fills the index from the segments, and makes it grow. It is safe for concurrent use.
type loader struct {
	*shared
	again   bool         // the directory was open before in this process
	filling atomic.Int64 // records that are about to be filled in

	growing   sync.Mutex  // held while the index grows
	grewBadly time.Time   // when a growth last failed; guarded by growing
	full      atomic.Bool // the index may not grow any more, and that was logged
}

// fillers is how many segments are read at once while the index fills: enough to keep the device busy.
func fillers() int { return max(16, 2*runtime.GOMAXPROCS(0)) }

// fillAll adds the records of all segments to the index, in order, in the background.
func (l *loader) fillAll(all []*segment) {
	if len(all) == 0 {
		l.forgot.done.Store(true)
		return
	}
	next := make(chan *segment)
	var readers sync.WaitGroup
	for range min(fillers(), len(all)) {
		readers.Go(func() {
			for s := range next {
				l.fillIn(s)
			}
		})
	}
	l.wg.Go(func() {
		defer readers.Wait()
		defer close(next)
		for _, s := range all {
			select {
			case next <- s:
			case <-l.stop:
				return
			case <-l.broke:
				return
			}
		}
	})
}

// fillIn adds the records of s to the index, unless that was done. It waits for another goroutine that is doing it.
func (l *loader) fillIn(s *segment) {
	s.filling.Do(func() {
		err := l.fillOne(s)
		if err != nil {
			l.partial.Store(true) // perhaps the next opening can read it
		}
		if l.segments.filled() {
			l.forgot.done.Store(true)
		}
		s.removed = nil
		if err == nil {
			return
		}
		if errors.Is(err, layout.ErrForeign) {
			l.setAside(s)
		} else {
			l.hidden.Add(1) // perhaps the next opening can read it
		}
		l.counts.unreadable.Add(1)
		l.o.Log.Warn("a segment of the disk tier cannot be read; its objects are misses", "path", l.o.Path, "segment", segmentName(s.number), "error", err.Error())
	})
}

func (l *loader) fillOne(s *segment) error {
	f, err := l.dir.Open(segmentName(s.number))
	if err != nil {
		return err
	}
	s.earlier.Store(l.again || f.MayBeCached(0, l.segments.end(s))) // before any of it is read
	s.file.Store(f)
	b, t, err := l.readFooter(s)
	if errors.Is(err, layout.ErrForeign) || errors.Is(err, layout.ErrDamaged) {
		b, t, err = l.recover(s)
	}
	if err != nil {
		return err
	}
	l.segments.setKind(s, t)
	entries := decode(b, t)
	holes, err := l.holesOf(s, t)
	if err != nil {
		return err
	}
	batch := s.placed(s.living(entries, holes))
	l.filling.Add(int64(len(batch)))
	l.makeIndexRoom(int(l.filling.Load()))
	dead := 0
	l.index.Fill(batch, l.segments.newer, func(index.Place) { dead++ }, func() { s.indexed.Store(true) })
	l.filling.Add(-int64(len(batch)))
	for _, e := range batch { // after the index: a removal notes the hash first
		if l.forgot.has(e.Hash) && l.index.Remove(e.Hash, e.Place) {
			l.buried(e.Place)
		} else if dead > 0 && !l.index.Has(e.Hash) { // it found no room
			l.partial.Store(true)
		}
	}
	l.counts.filled.Add(int64(len(batch)))
	l.segments.listFilled(s, t, entries, holes)
	return nil
}

// living returns the entries whose records are still there.
func (s *segment) living(entries []layout.Entry, holes []hole) []layout.Entry {
	gone := map[int64]bool{}
	for _, offset := range s.removed {
		gone[offset] = true
	}
	living := make([]layout.Entry, 0, len(entries))
	end := int64(0)
	for _, e := range entries {
		if e.Offset < end { // it overlaps the one before: it is damaged
			continue
		}
		end = e.Offset + e.Bytes
		if !gone[e.Offset] && !overlaps(holes, e) {
			living = append(living, e)
		}
	}
	return living
}

// placed returns entries in the form of the index.
func (s *segment) placed(entries []layout.Entry) []index.Entry {
	out := make([]index.Entry, len(entries))
	for i, e := range entries {
		out[i] = index.Entry{Hash: e.Hash, Place: place(s.number, e.Offset, e.Bytes)}
	}
	return out
}

// entriesOf returns the entries of a segment that is in the index.
func (w *evictor) entriesOf(s *segment) ([]layout.Entry, error) {
	if s.file.Load() == nil {
		return nil, layout.ErrDamaged
	}
	b, t := s.entries, layout.Trailer{EntriesAt: s.length}
	if b == nil {
		err := w.call(func() (err error) { b, t, err = w.readFooter(s); return err })
		if err != nil {
			return nil, err
		}
	}
	return decode(b, t), nil
}

// recover scans a segment without a footer, writes the footer, and seals it.
func (l *loader) recover(s *segment) ([]byte, layout.Trailer, error) {
	b, t, err := l.scan(s)
	if err != nil {
		return nil, t, err
	}
	l.counts.recovered.Add(1)
	f := s.file.Load()
	if l.readOnly {
		s.entries = b
		return b, t, nil
	}
	foot := l.head.AppendFooter(nil, b, t)
	err = f.Cut(t.EntriesAt)
	if err == nil {
		_, err = f.WriteAt(foot, t.EntriesAt)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		s.entries = b
	}
	return b, t, nil
}

// setAside stops using a foreign file. The file stays, and its size is no part of the bound.
func (l *loader) setAside(s *segment) {
	l.segments.removed(l.segments.unlist(s))
	s.letGo()
}
