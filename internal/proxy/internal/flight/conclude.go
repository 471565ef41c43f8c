package flight

// Conclude ends the flight that r leads. The caller has the header and the body already, and gives them to the leader
// without r. A fetch in the goroutine of the leader (Run) calls it once Judge has reported true, in place of Publish
// and all that follows.
//
// Conclude reports false, and does nothing, if anybody else has ever had a seat in the flight. It also does so if the
// response was admitted but not stored, or its URL was purged meanwhile and it was not stored. After true, r is closed,
// and only Recycle may be called.
//
// Nobody else asks for what most flights bring. Such a flight needs no shared body, no reserved memory and no reader.
//
// stored says that the caller has stored the response. It may do so once Alone has reported true. If Conclude then
// reports false, the caller ends the flight by Fill.
func (r *Reader[K, H]) Conclude(stored bool) bool {
	f, t := r.own.flight, r.table
	t.mu.Lock()
	if !r.aloneLocked() || !stored && (f.admitted || f.purged) {
		t.mu.Unlock()
		return false
	}
	var none H
	f.settleLocked(Shared, none, nil)
	f.round.removeWaitingLocked(r)
	t.ended.Add(1) // before others can lead a flight for the key
	f.unlistLocked()
	t.forgetLocked(f)
	f.whole, f.over, f.activeSeats = false, true, 0
	t.mu.Unlock()
	r.closed.Store(true)
	f.life.end()
	return true
}

// Alone reports whether so far only the leader has had a seat in the flight that r leads.
func (r *Reader[K, H]) Alone() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.aloneLocked()
}

func (r *Reader[K, H]) aloneLocked() bool {
	f := r.own.flight
	return f != nil && f.seats == 1 && f.activeSeats == 1 && f.round == &f.ownRound && f.round.leads == 1 && !f.settled && !f.stopped
}

// Recycle gives the memory of the flight that r has led back to its table. It is called after Conclude, and when Run
// has returned. Nobody may use r or its flight after that.
func (r *Reader[K, H]) Recycle() {
	f, t := r.own.flight, r.table
	stop := f.life.first.stop // stays valid: it is a method value of the same memory
	*f = Flight[K, H]{}
	f.life.first.stop = stop
	t.freeFlights.Put(f)
}
