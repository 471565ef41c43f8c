package flight

import (
	"cmp"
	"slices"
)

// loosenLocked puts f among those that make room for what is to be stored: nobody has admitted
// it, or it is known not to be stored, or it has ended and is still read.
func (t *Table[K, H]) loosenLocked(f *Flight[K, H]) {
	if f.loose {
		return
	}
	f.loose = true
	if f.older = t.loose; f.older != nil {
		f.older.newer = f
	}
	t.loose = f
}

// firmLocked takes f from among them.
func (t *Table[K, H]) firmLocked(f *Flight[K, H]) {
	if !f.loose {
		return
	}
	if f.newer != nil {
		f.newer.older = f.older
	} else {
		t.loose = f.older
	}
	if f.older != nil {
		f.older.newer = f.newer
	}
	f.loose, f.older, f.newer = false, nil, nil
}

// reclaimLocked has the bodies that can spare most give back what is lacking for one that is to
// be stored, and reports whether they gave as much. Those are no longer kept whole.
func (t *Table[K, H]) reclaimLocked(lacks int64) bool {
	type victim struct {
		flight *Flight[K, H]
		spare  int64
	}
	var victims []victim
	sum := int64(0)
	for f := t.loose; f != nil; f = f.older {
		if spare := f.body.spare(); spare > 0 {
			victims = append(victims, victim{f, spare})
			sum += spare
		}
	}
	if lacks < 0 || sum < lacks {
		return false // all of it would not do
	}
	slices.SortFunc(victims, func(a, b victim) int { return cmp.Compare(b.spare, a.spare) })
	for _, v := range victims {
		if lacks <= 0 {
			break
		}
		v.flight.ceaseLocked(true)
		lacks -= v.spare
	}
	return true
}
