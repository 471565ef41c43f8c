package disk

import (
	"errors"
	"io/fs"

	"edgeproxy/internal/cache/disk/layout"
)

// A segment of small records of which much is in demand stays where it is for a lap of the hand: to write that anew costs more than the others hold.
const (
	stayShare = 0.4 // of a segment in demand, from which on it stays; not above rewriteShare, so that what is in demand is never lost below it
	stayMost  = 16  // segments that may stay while room is made once: then the next one goes, however much of it is in demand
)

// lap is what the hand found in a segment of small records. Their hits are gone.
type lap struct {
	wanted   [4][]layout.Entry // by hits
	cold     []layout.Entry    // without
	inDemand int64             // bytes of those wanted, with what they need in a footer
	live     int64             // bytes of both
	dead     int64             // bytes of what was removed, replaced or written anew
}

// lookOver takes the hits from the records of s.
func (v *volume) lookOver(s *segment, entries []layout.Entry) (l lap) {
	for _, e := range entries {
		had, ok := v.coolAll(e.Hash, place(s.number, e.Offset, e.Bytes))
		if !ok {
			l.dead += e.Bytes
			continue
		}
		l.live += e.Bytes
		if had == 0 {
			l.cold = append(l.cold, e)
			continue
		}
		l.wanted[min(had, 3)] = append(l.wanted[min(had, 3)], e)
		l.inDemand += e.Bytes + layout.EntryBytes
	}
	return l
}

// stays reports whether a segment stays for a lap. It goes where half of it is dead: what is in demand can all be written anew then.
func (v *volume) stays(l lap) bool {
	return v.stayed < stayMost && float64(l.inDemand) >= stayShare*float64(v.head.SegmentBytes) && l.dead <= l.live
}

// stay makes s the one that was looked at last. The time of its file says so to the next start.
func (v *volume) stay(s *segment) {
	v.stayed++
	v.counts.stays.Add(1)
	s.seen = v.o.Now()
	v.mu.Lock()
	s.visited = v.written
	v.small = append(without(v.small, s), s)
	v.mu.Unlock()
	_ = v.call(func() error {
		err := v.dir.Touch(segmentName(s.number), s.seen)
		if errors.Is(err, fs.ErrPermission) {
			return nil // the file is another user's: a start takes it for older
		}
		return err
	})
}
