package disk

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// slotCount is how many segments there can be at once.
const slotCount = 1 << 16

// place returns the place of a record, in the form of the index.
func place(number uint64, offset, length int64) index.Place {
	return index.Place{
		Segment: uint16(number % slotCount),   //nolint:gosec // below 65,536
		Offset:  uint32(offset / layout.Unit), //nolint:gosec // a segment has at most 64 MiB
		Class:   layout.Class(length),
	}
}

// segments are the files of records that a directory has, and their sizes. It is safe for concurrent use.
type segments struct {
	can          *abilities
	maxBytes     int64                     // Options.MaxBytes
	segmentBytes int64                     // the length of a full segment
	slots        []atomic.Pointer[segment] // segments under the low 16 bits of their numbers

	// It also guards the fields of a segment that say so. No other lock is taken under it.
	mu           sync.Mutex
	used         int64      // size of the directory once the open segments are sealed
	limit        int64      // upper bound of used: MaxBytes, or less where the file system is full
	written      uint64     // bytes written since the first opening
	small, large []*segment // the segment visited longest ago comes first
	files        int        // number of segments
	unfilled     int        // segments that the index has not reached yet
}

func (g *segments) slot(number uint64) *atomic.Pointer[segment] { return &g.slots[number%slotCount] }

// newer reports whether a was written later than b, judged by their segments.
func (g *segments) newer(a, b index.Place) bool {
	if a.Segment == b.Segment {
		return a.Offset > b.Offset
	}
	sa, sb := g.slots[a.Segment].Load(), g.slots[b.Segment].Load()
	return sa != nil && (sb == nil || sa.number > sb.number)
}

// gone reports whether s has left: then bytes read from it mean nothing.
func (g *segments) gone(s *segment) bool { return g.slot(s.number).Load() != s }

// begin adds s, a new file of that many bytes.
func (g *segments) begin(s *segment, bytes int64) {
	g.mu.Lock()
	g.files++
	g.mu.Unlock()
	g.add(s, bytes)
	g.slot(s.number).Store(s)
}

// add adds delta to the sizes of s and of the directory.
func (g *segments) add(s *segment, delta int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.length += delta
	g.used += delta
}

// end returns the length of the file.
func (g *segments) end(s *segment) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.length
}

// left returns how many bytes s takes on the disk.
func (g *segments) left(s *segment) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.length - s.freed
}

// wrote counts bytes that were written to segments.
func (g *segments) wrote(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.written += uint64(n) //nolint:gosec // above 0
}

// use adds delta to the size of the directory, for a file that is no segment.
func (g *segments) use(delta int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used += delta
}

// announce notes a record that is about to be indexed, so that an index that grows meanwhile does not miss it.
func (g *segments) announce(s *segment, e layout.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.fresh = append(s.fresh, index.Entry{Hash: e.Hash, Place: place(s.number, e.Offset, e.Bytes)})
}

// announced returns the records of s that were announced, and whether s is sealed.
func (g *segments) announced(s *segment) (fresh []index.Entry, listed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.fresh, s.listed
}

// setKind takes the kind and the length of the footer of s from its trailer.
func (g *segments) setKind(s *segment, t layout.Trailer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.kind, s.footer = t.Kind, layout.FooterBytes(t.Entries)
}

// listFilled lists s by its kind, and accounts for its size.
func (g *segments) listFilled(s *segment, t layout.Trailer, entries []layout.Entry, holes []hole) {
	freed := int64(0)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range entries {
		if t.Kind == layout.Large && within(holes, e) {
			s.notePunched(e.Offset)
			freed += e.Bytes
		}
	}
	length := t.EntriesAt + s.footer
	g.used += length - freed - (s.length - s.freed)
	s.length, s.freed = length, freed
	if t.Kind == layout.Large && s.listed && g.can.punches.Load() {
		g.small, g.large = without(g.small, s), insert(g.large, s)
	}
}

// filled notes that a segment is in the index. It reports whether all are.
func (g *segments) filled() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unfilled--
	return g.unfilled == 0
}

// areFilling reports whether there are segments that the index has not reached yet.
func (g *segments) areFilling() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unfilled > 0
}

// list lets a hand find s.
func (g *segments) list(s *segment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.listed, s.fresh = true, nil
	s.visited = g.written
	if s.kind == layout.Large && g.can.punches.Load() {
		g.large = insert(g.large, s)
	} else {
		g.small = insert(g.small, s)
	}
}

func (g *segments) isListed(s *segment) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.listed
}

// isSmall reports whether s leaves whole.
func (g *segments) isSmall(s *segment) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.small, s)
}

// listedFrom returns the segments that are not being written, from a number on and in order.
func (g *segments) listedFrom(number uint64) []*segment {
	g.mu.Lock()
	all := slices.Concat(g.small, g.large)
	g.mu.Unlock()
	all = slices.DeleteFunc(all, func(s *segment) bool { return s.number < number })
	slices.SortFunc(all, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	return all
}

// newestFirst returns the segments that were found at the start, the one visited last first.
func (g *segments) newestFirst() []*segment {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Clone(g.small)
	slices.Reverse(all)
	return all
}

// oldest returns the segments of each list that were visited longest ago; nil: the list is empty.
func (g *segments) oldest() (small, large *segment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return first(g.small), first(g.large)
}

func first(all []*segment) *segment {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// passed makes s the segment of its list that was visited last.
func (g *segments) passed(s *segment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.visited = g.written
	if slices.Contains(g.large, s) {
		g.large = append(without(g.large, s), s)
	} else {
		g.small = append(without(g.small, s), s)
	}
}

// isSparse reports whether so little is left of s, a segment of large records, that it is rewritten.
func (g *segments) isSparse(s *segment) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(s.length-s.freed) <= g.sparseLocked()*float64(s.length)
}

// sparseLocked returns the share of a segment of large records below which the rest of it is rewritten. Records with hits stay for long,
// and rewriting them early costs more than a file with holes does. Such a file costs only a descriptor and a slot.
func (g *segments) sparseLocked() float64 {
	if int64(g.files) > crowdedTimes*(g.maxBytes/g.segmentBytes) || g.files > slotCount/2 {
		return crowdedShare
	}
	return sparseShare
}

// punched notes that the records of r were punched out of s, bytes together.
func (g *segments) punched(s *segment, r run, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.freed += bytes
	g.used -= bytes
	for _, f := range r {
		s.notePunched(f.offset)
	}
}

// mix makes one list of the two, of segments that leave whole.
func (g *segments) mix() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.large {
		g.small = insert(g.small, s)
	}
	g.large = nil
}

// unlist takes s out of the lists and its slot. It returns the bytes that its file takes.
func (g *segments) unlist(s *segment) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.small, g.large = without(g.small, s), without(g.large, s)
	s.listed = false
	g.slot(s.number).CompareAndSwap(s, nil)
	return s.length - s.freed
}

// removed notes that a file of that many bytes is gone.
func (g *segments) removed(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used -= bytes
	g.files--
}

// over returns by how much the directory would be above its limit with n bytes more, and how many segments can be evicted.
func (g *segments) over(n int64) (bytes int64, segments int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used + n - g.limit, len(g.small) + len(g.large)
}

// setLimit sets the limit: MaxBytes, or less where there are only that many free bytes more. It returns the limit.
func (g *segments) setLimit(free int64) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = max(min(g.maxBytes, g.used+free), 0)
	return g.limit
}

// shrink lowers the limit, as the file system turned out to be full, until measureRoom sets it again.
func (g *segments) shrink() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = min(g.limit, g.used-g.used/32)
}

// fill returns how full the directory is, in [0, 1].
func (g *segments) fill() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return min(float64(g.used)/float64(max(g.limit, 1)), 1)
}

// stats sets the sizes of st.
func (g *segments) stats(st *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	st.Bytes, st.MaxBytes, st.Unfilled, st.Segments = g.used, g.limit, int64(g.unfilled), int64(g.files)
}

// insert puts s in order, by when it was visited.
func insert(all []*segment, s *segment) []*segment {
	i := len(all)
	for i > 0 && all[i-1].visited > s.visited {
		i--
	}
	return slices.Insert(all, i, s)
}

func without(all []*segment, s *segment) []*segment {
	if i := slices.Index(all, s); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}
