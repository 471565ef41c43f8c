package flight

import "runtime/debug"

// Go runs fetch for the flight that r leads, in a goroutine of its own that
// Close waits for. fetch must end with Finish or Fill; a panic in it ends the
// flight with a PanicError. recovered, if not nil, is called with it. Go reports
// false, and ends the flight with ErrClosed, if the table is closed.
func (t *Table[K, H]) Go(r *Reader[K, H], fetch func(*Flight[K, H]), recovered func(*PanicError)) bool {
	f := r.Flight()
	if !t.beginFetch(f) {
		return false
	}
	go t.runFetch(f, fetch, recovered)
	return true
}

// Fetch is a fetch that Run begins. It is an interface, because a function value would have to be
// allocated for each fetch.
type Fetch[K comparable, H any] interface {
	// Begin runs in the goroutine of the leader. What it returns is run in a goroutine of its
	// own; nil says that the fetch has ended. Begin must not wait long, except between
	// Flight.Waits and Flight.Waited.
	Begin(f *Flight[K, H]) (rest func(*Flight[K, H]))
}

// Run is Go for a fetch that begins in the goroutine of the leader.
func (t *Table[K, H]) Run(r *Reader[K, H], fetch Fetch[K, H], recovered func(*PanicError)) bool {
	f := r.Flight()
	if !t.beginFetch(f) {
		return false
	}
	if rest := f.begin(fetch, recovered); rest != nil {
		go t.runFetch(f, rest, recovered)
		return true
	}
	t.fetch.Done()
	return true
}

// beginFetch notes that the fetch of f begins. If t is closed it ends f and reports false.
func (t *Table[K, H]) beginFetch(f *Flight[K, H]) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		f.Finish(ErrClosed)
		return false
	}
	f.fetchBegun = true
	t.fetch.Add(1)
	t.mu.Unlock()
	return true
}

// runFetch runs fetch to its end.
func (t *Table[K, H]) runFetch(f *Flight[K, H], fetch func(*Flight[K, H]), recovered func(*PanicError)) {
	defer t.fetch.Done()
	defer f.rescue(recovered)
	fetch(f)
}

// begin calls Begin. After a panic it returns nil.
func (f *Flight[K, H]) begin(fetch Fetch[K, H], recovered func(*PanicError)) (rest func(*Flight[K, H])) {
	defer f.rescue(recovered)
	return fetch.Begin(f)
}

// rescue is deferred around a fetch: a panic ends the flight.
func (f *Flight[K, H]) rescue(recovered func(*PanicError)) {
	v := recover()
	if v == nil {
		return
	}
	e := &PanicError{Value: v, Stack: debug.Stack()}
	f.Finish(e)
	if recovered != nil {
		recovered(e)
	}
}

// nudger is a wait of a leader's goroutine. Nudge ends the wait; any goroutine may call it, also
// when the wait is over.
type nudger interface{ Nudge() }

// Waits says that the fetch, in the goroutine of the leader, is about to wait for n. From then until
// Waited, n is nudged when another flight is led for the round, because that flight may serve the
// leader. Waits reports false if there is another one already.
func (f *Flight[K, H]) Waits(n nudger) bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	if f.round.leads > 1 {
		return false
	}
	f.waitingOn = n
	return true
}

// Waited says that the fetch does not wait any more.
func (f *Flight[K, H]) Waited() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.waitingOn = nil
}
