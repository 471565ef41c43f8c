package flight

import "runtime/debug"

// Go runs fetch for the flight that r leads, in a goroutine of its own that
// Close waits for. fetch must end with Finish or Fill; a panic in it ends the
// flight with a PanicError. recovered, if not nil, is called with it. Go reports
// false, and ends the flight with ErrClosed, if the table is closed.
func (t *Table[K, H]) Go(r *Reader[K, H], fetch func(*Flight[K, H]), recovered func(*PanicError)) bool {
	f := r.Flight()
	if !t.fetching(f) {
		return false
	}
	go t.fetched(f, fetch, recovered)
	return true
}

// Fetch is one that Run begins. It is no function, so that none has to be made for each fetch.
type Fetch[K comparable, H any] interface {
	// Begin does what can be done in the goroutine of the leader. What it returns goes on in a
	// goroutine of its own; nil is the end. It must not wait long but by Flight.Waits.
	Begin(f *Flight[K, H]) (rest func(*Flight[K, H]))
}

// Run is Go for a fetch that begins in the goroutine of the leader.
func (t *Table[K, H]) Run(r *Reader[K, H], fetch Fetch[K, H], recovered func(*PanicError)) bool {
	f := r.Flight()
	if !t.fetching(f) {
		return false
	}
	if rest := f.begin(fetch, recovered); rest != nil {
		go t.fetched(f, rest, recovered)
		return true
	}
	t.fetch.Done()
	return true
}

// fetching notes that the fetch of f begins, unless t is closed.
func (t *Table[K, H]) fetching(f *Flight[K, H]) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		f.Finish(ErrClosed)
		return false
	}
	f.fetched = true
	t.fetch.Add(1)
	t.mu.Unlock()
	return true
}

// fetched runs fetch to its end.
func (t *Table[K, H]) fetched(f *Flight[K, H], fetch func(*Flight[K, H]), recovered func(*PanicError)) {
	defer t.fetch.Done()
	defer f.rescue(recovered)
	fetch(f)
}

// begin calls Begin; after a panic nothing is left to do.
func (f *Flight[K, H]) begin(fetch Fetch[K, H], recovered func(*PanicError)) (rest func(*Flight[K, H])) {
	defer f.rescue(recovered)
	return fetch.Begin(f)
}

// rescue is deferred by what runs a fetch: a panic ends the flight.
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

// nudger is what the goroutine of a leader waits for. Nudge ends the wait; it may be called by any
// goroutine, also when the wait is over.
type nudger interface{ Nudge() }

// Waits says that the fetch, in the goroutine of the leader, is about to wait for n. From then on n
// is nudged as soon as another flight is led for the round, by which the leader may be served. It
// reports false where one is already. Waited ends that.
func (f *Flight[K, H]) Waits(n nudger) bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	if f.round.leads > 1 {
		return false
	}
	f.waits = n
	return true
}

// Waited says that the fetch does not wait any more.
func (f *Flight[K, H]) Waited() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.waits = nil
}
