package flight

// Conclude ends the flight that r leads, with a header and a body that its caller alone gets, by other
// means than r. It reports false, and has done nothing, where anybody else has ever had a seat in it, where
// the response is to be stored, and where the URL was purged meanwhile. It is for a fetch in the goroutine of the leader
// (Run), once Judge has reported true, in place of Publish and all that follows.
//
// What most flights bring is held back, and nobody else asks for it meanwhile. They need no body that is shared, no memory
// that is reserved, and no reader. After a true r is closed, and must not be used but by Recycle.
func (r *Reader[K, H]) Conclude() bool {
	f, t := r.own.flight, r.table
	t.mu.Lock()
	if f == nil || f.seats != 1 || f.round != &f.first || f.round.leads != 1 || f.interest != 1 || f.admitted || f.purged || f.settled || f.stopped {
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

// Recycle gives the memory of the flight that r has led back to its table, behind Conclude: neither r nor its flight
// may be used any more, by anybody. It comes when Run has returned.
func (r *Reader[K, H]) Recycle() {
	f, t := r.own.flight, r.table
	stop := f.life.first.stop // of the same memory
	*f = Flight[K, H]{}
	f.life.first.stop = stop
	t.spare.Put(f)
}
