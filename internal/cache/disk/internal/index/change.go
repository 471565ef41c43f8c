package index

// Swap puts place p where before was for hash h, and reports whether before was
// there. The hits stay. It is for a record that moves, and for one that takes the
// place of an older one of its key; the record at before is dead then. If it
// reports false, nothing has changed.
func (x *Index) Swap(h uint64, before, p Place) bool {
	if !p.fits() {
		return false
	}
	w := newWord(tagOf(h), p)
	return x.change(h, before, func(v word) word { return w | v&hitMask })
}

// Remove takes place p of hash h out, and reports whether it was there. Of several
// calls for one place, and of a Put that pushes it out, only one has it.
func (x *Index) Remove(h uint64, p Place) bool {
	return x.change(h, p, func(word) word { return 0 })
}

// change replaces the word of h and p by what to makes of it.
func (x *Index) change(h uint64, p Place, to func(word) word) bool {
	s := &x.writers[shardOf(tagOf(h))]
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, v := x.slotOf(h, p)
	if slot == nil {
		return false
	}
	for !slot.CompareAndSwap(uint64(v), uint64(to(v))) {
		v = word(slot.Load()) // its hits have changed, and nothing else can
	}
	if now := to(v); now == 0 {
		x.left(v)
	} else if from, to := v.place().Class, now.place().Class; from != to {
		x.classes[from].Add(-1)
		x.classes[to].Add(1)
	}
	return true
}
