package flight

import (
	"cmp"
	"slices"
)

// loosenLocked puts f into the list of flights that can make room for a body that is to be
// stored: nobody has admitted f, or it is known not to be stored, or it has ended and is still
// read.
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

// firmLocked takes f out of that list.
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

// reclaimLocked takes memory back for the body of a flight, which is to be stored and lacks so
// many bytes. It takes from the other bodies that can spare most, which are no longer kept whole
// then, and reports whether that was enough. Where all of them could not spare enough, it takes
// nothing.
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
	for f := t.loose; f != nil; f = f.older {
		if f == lacking {
			continue
		}
		if spare := f.body.spare(); spare > 0 {
			victims = append(victims, victim{f, spare})
			sum += spare
		}
	}
	if sum < lacks {
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
