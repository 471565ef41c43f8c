package flight

import (
	"cmp"
	"slices"
)

// addReclaimableLocked puts f into the list of flights whose memory may be taken for a body that is
// to be stored: nobody has admitted f, or it is known not to be stored, or it has ended and is
// still read.
func (t *Table[K, H]) addReclaimableLocked(f *Flight[K, H]) {
	if f.reclaimable {
		return
	}
	f.reclaimable = true
	if f.nextReclaimable = t.reclaimable; f.nextReclaimable != nil {
		f.nextReclaimable.prevReclaimable = f
	}
	t.reclaimable = f
}

// removeReclaimableLocked takes f out of that list.
func (t *Table[K, H]) removeReclaimableLocked(f *Flight[K, H]) {
	if !f.reclaimable {
		return
	}
	if f.prevReclaimable != nil {
		f.prevReclaimable.nextReclaimable = f.nextReclaimable
	} else {
		t.reclaimable = f.nextReclaimable
	}
	if f.nextReclaimable != nil {
		f.nextReclaimable.prevReclaimable = f.prevReclaimable
	}
	f.reclaimable, f.nextReclaimable, f.prevReclaimable = false, nil, nil
}

// reclaimLocked takes memory back for the body of the flight lacking, which is to be stored and
// needs lacks more bytes. It takes from the bodies that can spare most. They are no longer kept
// whole then. It reports whether that was enough. If all bodies together cannot spare enough, it
// takes nothing.
func (t *Table[K, H]) reclaimLocked(lacking *Flight[K, H], lacks int64) bool {
	if lacks < 0 { // its client holds its share
		return false
	}
	type victim struct {
		flight *Flight[K, H]
		spare  int64
	}
	var victims []victim
	sum := int64(0)
	for f := t.reclaimable; f != nil; f = f.nextReclaimable {
		if f == lacking {
			continue
		}
		if spare := f.body.spareBytes(); spare > 0 {
			victims = append(victims, victim{f, spare})
			sum += spare
		}
	}
	if sum < lacks {
		return false // all of them together have too little
	}
	slices.SortFunc(victims, func(a, b victim) int { return cmp.Compare(b.spare, a.spare) })
	for _, v := range victims {
		if lacks <= 0 {
			break
		}
		v.flight.stopKeepingLocked(true)
		lacks -= v.spare
	}
	return true
}
