package flight

// Conclude ends the flight that r leads, with a header and a body that its caller alone gets, by other
// means than r. It reports false, and has done nothing, where anybody else has ever had a seat in it, and where nothing is
// stored though it was admitted, or its URL was purged meanwhile. It is for a fetch in the goroutine of the leader
// (Run), once Judge has reported true, in place of Publish and all that follows.
//
// What most flights bring nobody else asks for meanwhile. They need no body that is shared, no memory
// that is reserved, and no reader. After a true r is closed, and must not be used but by Recycle.
//
// Stored says that the caller has stored the response, which it may do once Alone has reported true. After a false
// it then ends the flight by Fill.
func (r *Reader[K, H]) Conclude(stored bool) bool {
	f, t := r.own.flight, r.table
	t.mu.Lock()
	if !r.aloneLocked() || !stored && (f.admitted || f.purged) {
		t.mu.Unlock()
		return false
	}
	var none H
	f.settleLocked(Shared, none, nil)
	f.round.goneLocked(r)
	t.ended.Add(1) // before others can lead a flight for the key
	f.unlistLocked()
	t.forgetLocked(f)
	f.whole, f.over, f.interest = false, true, 0
	t.mu.Unlock()
	r.closed.Store(true)
	f.life.end()
	return true
}

// Alone reports whether nobody else has had a seat in the flight that r leads, so far.
func (r *Reader[K, H]) Alone() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.aloneLocked()
}

func (r *Reader[K, H]) aloneLocked() bool {
	f := r.own.flight
	return f != nil && f.seats == 1 && f.interest == 1 && f.round == &f.first && f.round.leads == 1 && !f.settled && !f.stopped
}

// Recycle gives the memory of the flight that r has led back to its table, behind Conclude: neither r nor its flight
// may be used any more, by anybody. It comes when Run has returned.
func (r *Reader[K, H]) Recycle() {
	f, t := r.own.flight, r.table
	stop := f.life.first.stop // of the same memory
	*f = Flight[K, H]{}
	f.life.first.stop = stop
	t.spare.Put(f)
}
