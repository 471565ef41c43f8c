package disk

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// fillers is how many segments are read at once while the index fills: enough to keep the device busy.
func fillers() int { return max(16, 2*runtime.GOMAXPROCS(0)) }

// fillAll adds the records of all segments to the index, in order, in the background.
func (v *volume) fillAll(all []*segment) {
	if len(all) == 0 {
		v.forgot.done.Store(true)
		return
	}
	next := make(chan *segment)
	var readers sync.WaitGroup
	for range min(fillers(), len(all)) {
		readers.Go(func() {
			for s := range next {
				v.fillIn(s)
			}
		})
	}
	v.wg.Go(func() {
		defer readers.Wait()
		defer close(next)
		for _, s := range all {
			select {
			case next <- s:
			case <-v.stop:
				return
			case <-v.broke:
				return
			}
		}
	})
}

// fillIn adds the records of s to the index, unless that was done. It waits for another goroutine that is doing it.
func (v *volume) fillIn(s *segment) {
	s.filling.Do(func() {
		err := v.fillOne(s)
		if err != nil {
			v.partial.Store(true) // perhaps the next opening can read it
		}
		v.mu.Lock()
		if v.unfilled--; v.unfilled == 0 {
			v.forgot.done.Store(true)
		}
		v.mu.Unlock()
		s.removed = nil
		if err == nil {
			return
		}
		if errors.Is(err, layout.ErrForeign) {
			v.setAside(s)
		} else {
			v.hidden.Add(1) // perhaps the next opening can read it
		}
		v.counts.unreadable.Add(1)
		v.o.Log.Warn("a segment of the disk tier cannot be read; its objects are misses", "path", v.o.Path, "segment", segmentName(s.number), "error", err.Error())
	})
}

func (v *volume) fillOne(s *segment) error {
	f, err := v.dir.Open(segmentName(s.number))
	if err != nil {
		return err
	}
	s.earlier.Store(v.again || f.MayBeCached(0, s.end(v))) // before any of it is read
	s.file.Store(f)
	b, t, err := v.readFooter(s)
	if errors.Is(err, layout.ErrForeign) || errors.Is(err, layout.ErrDamaged) {
		b, t, err = v.recover(s)
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	s.kind, s.footer = t.Kind, layout.FooterBytes(t.Entries)
	v.mu.Unlock()
	entries := decode(b, t)
	holes, err := v.holesOf(s, t)
	if err != nil {
		return err
	}
	batch := s.placed(s.living(entries, holes))
	v.filling.Add(int64(len(batch)))
	v.makeIndexRoom(int(v.filling.Load()))
	dead := 0
	v.index.Fill(batch, v.newer, func(index.Place) { dead++ }, func() { s.indexed.Store(true) })
	v.filling.Add(-int64(len(batch)))
	for _, e := range batch { // after the index: a removal notes the hash first
		if v.forgot.has(e.Hash) && v.index.Remove(e.Hash, e.Place) {
			v.buried(e.Place)
		} else if dead > 0 && !v.index.Has(e.Hash) { // it found no room
			v.partial.Store(true)
		}
	}
	v.counts.filled.Add(int64(len(batch)))
	v.listFilled(s, t, entries, holes)
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

// listFilled lists s by its kind, and accounts for its size.
func (v *volume) listFilled(s *segment, t layout.Trailer, entries []layout.Entry, holes []hole) {
	freed := int64(0)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range entries {
		if t.Kind == layout.Large && within(holes, e) {
			s.notePunched(e.Offset)
			freed += e.Bytes
		}
	}
	length := t.EntriesAt + s.footer
	v.used += length - freed - (s.length - s.freed)
	s.length, s.freed = length, freed
	if t.Kind == layout.Large && s.listed && v.punches.Load() {
		v.small, v.large = without(v.small, s), insert(v.large, s)
	}
}

// footerGuess is how much of the end of a segment is read at first.
const footerGuess = 64 << 10

// readFooter returns the encoded, checked entries of a sealed segment, and its trailer.
func (v *volume) readFooter(s *segment) ([]byte, layout.Trailer, error) {
	f := s.file.Load()
	size, err := f.Bytes()
	if err != nil {
		return nil, layout.Trailer{}, err
	}
	if size < 2*layout.Page {
		return nil, layout.Trailer{}, layout.ErrDamaged
	}
	b := make([]byte, min(footerGuess, size))
	if err := readAll(f, b, size-int64(len(b))); err != nil {
		return nil, layout.Trailer{}, err
	}
	t, err := v.head.ParseTrailer(b[len(b)-layout.TrailerBytes:], s.number, size)
	if err != nil {
		return nil, t, err
	}
	entries := t.Entries * layout.EntryBytes
	if missing := size - int64(len(b)) - t.EntriesAt; missing > 0 {
		whole := make([]byte, missing+int64(len(b)))
		copy(whole[missing:], b)
		if err := readAll(f, whole[:missing], t.EntriesAt); err != nil {
			return nil, t, err
		}
		b = whole[:entries]
	} else {
		b = b[-missing:][:entries]
	}
	if layout.Sum(b) != t.Sum {
		return nil, t, layout.ErrDamaged
	}
	return b, t, nil
}

// entriesOf returns the entries of a segment that is in the index.
func (v *volume) entriesOf(s *segment) ([]layout.Entry, error) {
	if s.file.Load() == nil {
		return nil, layout.ErrDamaged
	}
	b, t := s.entries, layout.Trailer{EntriesAt: s.length}
	if b == nil {
		err := v.call(func() (err error) { b, t, err = v.readFooter(s); return err })
		if err != nil {
			return nil, err
		}
	}
	return decode(b, t), nil
}

// recover scans a segment without a footer, writes the footer, and seals it.
func (v *volume) recover(s *segment) ([]byte, layout.Trailer, error) {
	b, t, err := v.scan(s)
	if err != nil {
		return nil, t, err
	}
	v.counts.recovered.Add(1)
	f := s.file.Load()
	if v.readOnly {
		s.entries = b
		return b, t, nil
	}
	foot := v.head.AppendFooter(nil, b, t)
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

type hole struct{ from, to int64 }

// holesOf returns the holes of a segment of large records.
func (v *volume) holesOf(s *segment, t layout.Trailer) ([]hole, error) {
	if t.Kind != layout.Large {
		return nil, nil
	}
	var all []hole
	f := s.file.Load()
	for at := int64(0); at < t.EntriesAt; {
		from, err := f.Hole(at)
		if err != nil || from >= t.EntriesAt {
			return all, err
		}
		to, err := f.Data(from)
		if err != nil {
			return all, err
		}
		all = append(all, hole{from, to})
		at = max(to, from+1)
	}
	return all, nil
}

// firstHole returns the index of the first hole that ends behind at.
func firstHole(holes []hole, at int64) int {
	i, _ := slices.BinarySearchFunc(holes, at+1, func(h hole, at int64) int {
		if h.to < at {
			return -1
		}
		return 1
	})
	return i
}

// overlaps reports whether part of e is in a hole: it was punched out, or never reached the disk.
func overlaps(holes []hole, e layout.Entry) bool {
	i := firstHole(holes, e.Offset)
	return i < len(holes) && holes[i].from < e.Offset+e.Bytes
}

// within reports whether all of e is in a hole.
func within(holes []hole, e layout.Entry) bool {
	i := firstHole(holes, e.Offset)
	return i < len(holes) && holes[i].from <= e.Offset && holes[i].to >= e.Offset+e.Bytes
}

// setAside stops using a foreign file. The file stays, and its size is no part of the bound.
func (v *volume) setAside(s *segment) {
	v.mu.Lock()
	v.small = without(v.small, s)
	s.listed = false
	v.used -= s.length - s.freed
	v.segments--
	v.mu.Unlock()
	v.slot(s.number).CompareAndSwap(s, nil)
	s.letGo()
}

// readAll reads exactly len(b) bytes at offset, or returns an error.
func readAll(f *device.File, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return layout.ErrDamaged
	}
	return err
}
