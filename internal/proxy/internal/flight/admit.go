package flight

// Some followers join before it is known which of several responses the flight brings: see
// Response.Recounted. This file lets them admit it later. Each of them looks at the header, and
// then admits, does not admit, or leaves. None of that needs the network, so a wait for these
// decisions is short.

// Key returns the key that the flight was led for.
func (f *Flight[K, H]) Key() K { return f.key }

// recountLocked notes whether joining has admitted the response r, and what its leader says.
func (f *Flight[K, H]) recountLocked(r Response) {
	if f.recounted = r.Recounted; f.recounted {
		f.admitted = r.Admits
	}
}

// askWaitingLocked asks the followers that joined before the header came.
func (f *Flight[K, H]) askWaitingLocked() {
	if f.recounted && f.outcome == Shared && f.round.winner == f {
		f.round.eachWaitingLocked(func(r *Reader[K, H]) {
			f.askLocked(r)
			r.joinedEarly = r.undecidedIn == f
		})
		f.undecidedEarly = f.undecided
	}
}

// lastDecisionsLocked waits for the decisions that are missing at the end of the body. It first
// stops further followers from joining, so that the wait ends.
func (f *Flight[K, H]) lastDecisionsLocked() {
	if f.undecided > 0 && !f.admitted {
		f.unlistLocked()
		f.awaitDecisionsLocked(&f.undecided)
	}
}

// AwaitDecisions returns when every follower that joined before the header has decided whether
// it admits the response, or as soon as one admits it. It does not wait for followers that joined
// later: there might always be another one.
func (f *Flight[K, H]) AwaitDecisions() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.awaitDecisionsLocked(&f.undecidedEarly)
}

// awaitDecisionsLocked waits until *undecided is 0 or the response is admitted. It releases the
// lock while it waits.
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

// askLocked counts r, a follower, among those whose decision f waits for, if the decision can
// change anything. A follower that leads a flight of its own is not counted: it may wait for that
// flight first.
func (f *Flight[K, H]) askLocked(r *Reader[K, H]) {
	if f.recounted && f.whole && !f.admitted && r.own.flight == nil {
		r.undecidedIn = f
		f.undecided++
	}
}

// decideLocked notes that r has decided, or will not.
func (r *Reader[K, H]) decideLocked() {
	f := r.undecidedIn
	if f == nil {
		return
	}
	r.undecidedIn = nil
	f.undecided--
	if r.joinedEarly {
		f.undecidedEarly--
	}
	if f.decisions != nil {
		close(f.decisions)
		f.decisions = nil
	}
}

// Admit is called by a follower that has the header of a response with Recounted, and that the
// response suits. admit says whether the follower admits it, as Admission.Following does for other
// responses. Admit reports false if the response would be stored but there is no memory for it.
// Then the flight takes no more followers, and r should leave it and ask anew. For a response
// without Recounted, joining has decided already, and Admit does nothing.
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
