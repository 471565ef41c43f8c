package index

// Touch notes a hit of the record at p: its hits go up by one, to MaxHits at
// most. A hit that meets a move or another hit may not be counted. It writes
// nothing where the count is at its top already.
func (x *Index) Touch(h uint64, p Place) {
	slot, w := x.slotOf(h, p)
	if slot == nil || w.hits() == MaxHits {
		return
	}
	slot.CompareAndSwap(uint64(w), uint64(w+oneHit))
}

// Hits returns the hits of the record at p since it was put, less those that Cool
// took away. It reports false if the index does not have that place for h.
func (x *Index) Hits(h uint64, p Place) (hits int, ok bool) {
	slot, w := x.slotOf(h, p)
	return w.hits(), slot != nil
}

// Cool takes one hit from the record at p and returns how many it had before: 0
// means that it was not asked for since the last time. It reports false if the
// index does not have that place for h.
func (x *Index) Cool(h uint64, p Place) (had int, ok bool) {
	for {
		slot, w := x.slotOf(h, p)
		if slot == nil || w.hits() == 0 {
			return 0, slot != nil
		}
		if slot.CompareAndSwap(uint64(w), uint64(w-oneHit)) {
			return w.hits(), true
		}
	}
}
