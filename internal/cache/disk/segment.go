package disk

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/internal/index"
	"edgeproxy/internal/cache/disk/layout"
)

// segment is one file of records.
type segment struct {
	number uint64
	kind   layout.Kind
	file   atomic.Pointer[device.File] // nil until it is opened
	refs   atomic.Int64                // 1 while it is in the directory, and 1 for each reader

	lends   atomic.Pointer[lentBits] // nil: no record was lent since the file was opened
	earlier atomic.Bool              // any record may have been lent before that

	indexed atomic.Bool // its records are in the index, from its footer or one by one
	filling sync.Once   // adds its records to the index
	removed []int64     // offsets in the removals log; until the segment is in the index
	entries []byte      // entries of a segment that could not be sealed; else the footer has them
	seen    time.Time   // when visited was set; the writer's
	footer  int64       // bytes of its footer; once it is sealed
	waiting []freeing   // large records that were removed before it was listed; the writer's
	asked   bitSet      // one for each entry: the record was hit before it was here, or by the time the hand last passed; the writer's

	// guarded by segments.mu
	length  int64         // length of the file, with its footer or the space for it
	freed   int64         // bytes of length that were punched out
	holes   bitSet        // one for each holeBytes in which a punched-out record began
	visited uint64        // segments.written when the hand last passed it, or when it was sealed
	listed  bool          // in small or large: it can be evicted
	fresh   []index.Entry // entries about to be indexed, or indexed, while the segment is being written
}

// holeBytes is so short that at most one large record begins in it.
const holeBytes = layout.LargeFrom

func (s *segment) punched(offset int64) bool { return s.holes.has(int(offset / holeBytes)) }

func (s *segment) notePunched(offset int64) { s.holes.set(int(offset / holeBytes)) }

// bitSet is a set of small numbers. It grows as needed.
type bitSet []uint64

func (b bitSet) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bitSet) set(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// lentBits has a bit for each holeBytes in which a lent record begins.
type lentBits [layout.MaxSegment / holeBytes / 64]atomic.Uint64

// lend notes that the record at offset was lent.
func (s *segment) lend(offset int64) {
	bits := s.lends.Load()
	if bits == nil {
		s.lends.CompareAndSwap(nil, new(lentBits))
		bits = s.lends.Load()
	}
	i := offset / holeBytes
	if mask := uint64(1) << (i % 64); bits[i/64].Load()&mask == 0 {
		bits[i/64].Or(mask)
	}
}

// lent reports whether the record at offset was lent, or may have been before the segment was opened.
func (s *segment) lent(offset int64) bool {
	if s.earlier.Load() {
		return true
	}
	bits, i := s.lends.Load(), offset/holeBytes
	return bits != nil && bits[i/64].Load()&(1<<(i%64)) != 0
}

// hold takes a reference, which keeps the file open until letGo. It returns false if the segment has left.
func (s *segment) hold() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *segment) letGo() {
	if s.refs.Add(-1) == 0 {
		if f := s.file.Load(); f != nil {
			_ = f.Close()
		}
	}
}

const segmentSuffix = ".seg"

func segmentName(number uint64) string { return fmt.Sprintf("%06d%s", number, segmentSuffix) }

// segmentNumber returns the number in the name of a segment's file.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, err == nil && segmentName(n) == name
}

// decode returns the entries of a footer, in the order of their offsets. It leaves out invalid ones.
func decode(b []byte, t layout.Trailer) []layout.Entry {
	all := make([]layout.Entry, 0, len(b)/layout.EntryBytes)
	for ; len(b) >= layout.EntryBytes; b = b[layout.EntryBytes:] {
		if e := layout.ParseEntry(b); t.Valid(e) {
			all = append(all, e)
		}
	}
	if !slices.IsSortedFunc(all, byOffset) {
		slices.SortFunc(all, byOffset)
	}
	return all
}

func byOffset(a, b layout.Entry) int { return cmp.Compare(a.Offset, b.Offset) }
