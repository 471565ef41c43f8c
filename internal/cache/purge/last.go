package purge

import (
	"path/filepath"

	"edgeproxy/internal/cache/statefile"
)

// This file keeps the number of the last purge that was confirmed, in a file beside the journal. A journal that is cut between two records, or whose
// last pages were lost, reads like one that is whole. It would bring back what its lost purges have removed. With the number it is seen that it ends too
// soon. Which purges are lost is not known then, but when they were: a response that was born after the last one is reached by none of them.

// lastKept is the last purge that Keep has returned for.
type lastKept struct {
	known   bool // else there is no such number, or none that is whole
	history uint64
	latest  uint64
}

// last returns the number of the last purge as it is saved.
func (i Identity) last(latest uint64) statefile.Last { return statefile.Last{i.History, latest} }

// openLast returns the file of the number, and what it has.
func openLast(p Place) (*statefile.LastFile, lastKept, error) {
	f, l, known, err := statefile.OpenLast(filepath.Join(p.Dir, lastName))
	return f, lastKept{known: known, history: l[0], latest: l[1]}, err
}

// lost reports whether t, of which e was read, may lack purges that were confirmed. It returns a generation that none of them has exceeded.
func (k lastKept) lost(t *Table, e extent) (upTo uint64, lost bool) {
	switch latest := t.latest.Load(); {
	case k.known && k.history == t.identity.History:
		upTo = max(k.latest, latest)
		return upTo, k.latest > latest || e.follow < e.records
	case e.old:
		return 0, false
	default: // a program that writes a journal of this kind writes a number first
		return (t.identity.Run + 1) << runBits, true
	}
}
