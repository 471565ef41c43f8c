package flight

// This file lets followers admit a response of which it was not known, when they joined,
// whether it is the one that they ask for: see Response.Recounted. They say so once they
// have seen the header, or leave. Either takes them no longer than to look at it, so what
// waits for them here waits for nobody's network.

// Key returns the key that the flight was led for.
func (f *Flight[K, H]) Key() K { return f.key }

// recountLocked takes note of what the header says of joining.
func (f *Flight[K, H]) recountLocked(r Response) {
	if f.recounted = r.Recounted; f.recounted {
		f.admitted = r.Admits
	}
}

// askWaitingLocked asks those that have joined before the header came.
func (f *Flight[K, H]) askWaitingLocked() {
	if f.recounted && f.outcome == Shared && f.round.winner == f {
		f.round.eachWaitingLocked(func(r *Reader[K, H]) {
			f.askLocked(r)
			r.early = r.decides == f
		})
		f.early = f.undecided
	}
}

// lastDecisionsLocked awaits the decisions at the end of the body, and lets nobody else in
// meanwhile: there might always be another one.
func (f *Flight[K, H]) lastDecisionsLocked() {
	if f.undecided > 0 && !f.admitted {
		f.unlistLocked()
		f.awaitDecisionsLocked(&f.undecided)
	}
}

// AwaitDecisions returns when every follower that had joined before the header has said
// whether it admits the response, or one of them does. Of those that join later there
// might always be another one.
func (f *Flight[K, H]) AwaitDecisions() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.awaitDecisionsLocked(&f.early)
}

// awaitDecisionsLocked waits until none are left of those that undecided counts. It gives
// the lock up meanwhile.
func (f *Flight[K, H]) awaitDecisionsLocked(undecided *int) {
	for *undecided > 0 && !f.admitted {
		if f.decisions == nil {
			f.decisions = make(chan struct{})
		}
		decisions := f.decisions
		f.table.mu.Unlock()
		<-decisions
		f.table.mu.Lock()
	}
}

// askLocked makes the response wait for the decision of r, a follower, if that counts. One
// that leads a flight of its own is not waited for: it may go on waiting for that one.
func (f *Flight[K, H]) askLocked(r *Reader[K, H]) {
	if f.recounted && f.whole && !f.admitted && r.own.flight == nil {
		r.decides = f
		f.undecided++
	}
}

// decideLocked takes note that nothing is to be heard from r any more.
func (r *Reader[K, H]) decideLocked() {
	f := r.decides
	if f == nil {
		return
	}
	r.decides = nil
	f.undecided--
	if r.early {
		f.early--
	}
	if f.decisions != nil {
		close(f.decisions)
		f.decisions = nil
	}
}

// Admit says that r has the header, that the response suits it, and whether it admits the
// response: for a follower that is what Admission.Following is for others. It reports false
// if the response would be stored and there is no memory for it: then the flight takes no
// more followers, and r should leave it and ask anew. Where the response was not recounted
// joining has decided already, and Admit does nothing.
func (r *Reader[K, H]) Admit(admit bool) bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	f, ok := r.flight, true
	if admit && f.recounted && f.whole && !f.over && !f.admitted {
		if ok = f.admitLocked(); !ok {
			f.unlistLocked()
		}
	}
	r.decideLocked()
	return ok
}
