package disk

import (
	"errors"
	"io/fs"

	"edgeproxy/internal/cache/disk/layout"
)

// A segment of small records of which much has hits stays where it is for a lap of the hand: rewriting it costs more than the other records are
// worth.
const (
	stayShare = 0.4 // least share of a segment with hits for it to stay; at most rewriteShare, so that below it no record with hits is lost
	stayMost  = 16  // most segments that stay during one makeRoom: then the next one leaves, whatever its hits
)

// lap is what the hand found in a segment of small records. Their hits were reset.
type lap struct {
	wanted   [4][]layout.Entry // records with hits, grouped by their number of hits
	cold     []layout.Entry    // without hits in this lap
	neverHit []layout.Entry    // without hits in any lap
	inDemand int64             // bytes of wanted, with their footer entries
	live     int64             // bytes of wanted, cold and neverHit
	dead     int64             // bytes of records that were removed, replaced or rewritten
}

// takeHits resets the hits of the records of s, and returns what it found.
func (w *evictor) takeHits(s *segment, entries []layout.Entry) (l lap) {
	for i, e := range entries {
		had, ok := w.coolAll(e.Hash, place(s.number, e.Offset, e.Bytes))
		if !ok {
			l.dead += e.Bytes
			continue
		}
		l.live += e.Bytes
		if had == 0 && s.asked.has(i) {
			l.cold = append(l.cold, e)
			continue
		}
		if had == 0 {
			l.neverHit = append(l.neverHit, e)
			continue
		}
		s.asked.set(i)
		l.wanted[min(had, 3)] = append(l.wanted[min(had, 3)], e)
		l.inDemand += e.Bytes + layout.EntryBytes
	}
	return l
}

// stays reports whether a segment stays for a lap. If half of it is dead it leaves, as all records with hits can be rewritten then.
func (w *evictor) stays(l lap) bool {
	return w.stayed < stayMost && float64(l.inDemand) >= stayShare*float64(w.head.SegmentBytes) && l.dead <= l.live
}

// stay makes s the segment visited last. The mtime of its file says so to the next start.
func (w *evictor) stay(s *segment) {
	w.stayed++
	w.counts.stays.Add(1)
	s.seen = w.o.Now()
	w.segments.passed(s)
	_ = w.call(func() error {
		err := w.dir.Touch(segmentName(s.number), s.seen)
		if errors.Is(err, fs.ErrPermission) {
			return nil // the file is another user's: the next start takes it for older
		}
		return err
	})
}
