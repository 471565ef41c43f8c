package flight

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed ends the flights of a table that was closed.
var ErrClosed = errors.New("flight: table closed")

// PanicError is the error of a flight whose fetch panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("fetch panicked: %v", e.Value) }

// Admission says whether a request admits the response to the store if it leads a flight, and if it
// follows. (Joining a flight can itself be the sighting that admits.)
type Admission struct {
	Leading, Following bool
	// Client is the client that asks. Memory of a flight that it leads counts as this
	// client's. The zero Prefix counts for nobody.
	Client netip.Prefix
}

// Options are what a Table is made of.
type Options struct {
	Budget      *Budget
	ObjectBytes int64 // the largest body that is kept whole
	// Ahead is how far a fetch that nobody has admitted, or that is not kept whole, runs
	// ahead of its fastest reader where the budget has room; at least 64 KiB.
	Ahead int64
	// Spool opens a file for what such a fetch has beyond that. With nil there is no file, and the
	// fetch waits. It is called by many goroutines at once.
	Spool func() (SpoolFile, error)
	// Now is the clock; nil leaves readers behind as soon as they lag.
	Now func() time.Time
	// Generation counts the purges of which only the header tells whether they concern a
	// response. A flight takes followers only until the number grows. It is called by many
	// goroutines at once. Nil stands for a number that stays the same.
	Generation func() uint64
}

// Table holds the flights in progress. K is the key's hash, H what a fetch
// publishes as header. It is safe for concurrent use.
type Table[K comparable, H any] struct {
	bodyOptions
	limit       int64
	generation  func() uint64
	fetch       sync.WaitGroup
	ended       atomic.Uint64 // see Ended
	freeFlights sync.Pool     // flights that Conclude has ended, all zero

	mu          sync.Mutex
	byKey       map[K]*round[K, H]
	all         *Flight[K, H] // a list of those in progress
	count       int           // how many
	reclaimable *Flight[K, H] // a list, newest first, of flights whose memory may be taken for bodies that are to be stored
	closed      bool
}

// NewTable returns a Table whose flights keep bodies of at most ObjectBytes
// whole, all of them together within the budget.
func NewTable[K comparable, H any](o Options) *Table[K, H] {
	if o.Generation == nil {
		o.Generation = func() uint64 { return 0 }
	}
	t := &Table[K, H]{
		bodyOptions: bodyOptions{budget: o.Budget, ahead: max(o.Ahead, windowBytes), spool: o.Spool, now: o.Now},
		limit:       o.ObjectBytes, generation: o.Generation,
		byKey: map[K]*round[K, H]{},
	}
	t.freeFlights.New = func() any { return &Flight[K, H]{} }
	t.ended.Store(1)
	return t
}

// Ended returns a number above 0 that grows whenever a flight was stored, and when one ends. A caller
// reads it before its look-up and again when it leads a flight. If the number is the same, it need not
// look up again: its look-up has seen all that flights have stored. Ended may be called by many
// goroutines at once, and takes no mutex.
func (t *Table[K, H]) Ended() uint64 { return t.ended.Load() }

// Join makes the caller a reader of the flight for key: of a new one, which it
// leads and whose fetch it must start with Go, or of the one in progress. url is
// the key by which purges find the flight.
func (t *Table[K, H]) Join(key, url K, a Admission) (r *Reader[K, H], leader bool) {
	now := t.generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.followLocked(key, now, a); r != nil {
		return r, false
	}
	r = t.leadLocked(key, url, now, a.Leading, a.Client)
	r.flight.ownRound.listed = true
	t.byKey[key] = &r.flight.ownRound
	return r, true
}

// Follow joins the flight for key if one is in progress and takes followers.
func (t *Table[K, H]) Follow(key K, a Admission) (r *Reader[K, H], ok bool) {
	now := t.generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	r = t.followLocked(key, now, a)
	return r, r != nil
}

// Has reports whether a flight for key is in progress that Follow may join.
func (t *Table[K, H]) Has(key K) bool {
	now := t.generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	round := t.byKey[key]
	return round != nil && round.begun >= now
}

// Lead begins a flight of the client c that takes no followers.
func (t *Table[K, H]) Lead(key, url K, admit bool, c netip.Prefix) *Reader[K, H] {
	now := t.generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leadLocked(key, url, now, admit, c)
}

// followLocked makes a follower of the flight for key, nil if none takes followers. now is the
// generation of purges.
func (t *Table[K, H]) followLocked(key K, now uint64, a Admission) *Reader[K, H] {
	round := t.byKey[key]
	if round == nil {
		return nil
	}
	f := round.winner
	if f == nil {
		f = round.newest
	}
	if round.begun < now {
		t.unlistLocked(round) // readers that joined before the purge read on
		return nil
	}
	if a.Following && !f.recounted && !f.admitLocked() {
		t.unlistLocked(round) // readers that joined before go on as before
		return nil
	}
	r := &Reader[K, H]{table: t, client: a.Client, seat: f.takeSeatLocked()}
	f.askLocked(r)
	if round.winner == nil {
		round.addWaitingLocked(r)
	}
	return r
}

// beginLocked makes a flight that belongs to no round yet.
func (t *Table[K, H]) beginLocked(key, url K, admit bool, c netip.Prefix) *Flight[K, H] {
	f := t.freeFlights.Get().(*Flight[K, H])
	f.table, f.key, f.url, f.admitted, f.whole = t, key, url, admit, true
	f.body.begin(t.bodyOptions, c, t.limit)
	if t.closed {
		f.life.end()
	}
	if f.next = t.all; f.next != nil {
		f.next.prev = f
	}
	t.all = f
	t.count++
	return f
}

// leadLocked begins a flight, the first one of its round, and returns its leader.
func (t *Table[K, H]) leadLocked(key, url K, now uint64, admit bool, c netip.Prefix) *Reader[K, H] {
	f := t.beginLocked(key, url, admit, c)
	f.ownRound.key, f.ownRound.begun = key, now
	f.ownRound.addLocked(f)
	r := &f.leader
	r.table, r.seat = t, f.takeSeatLocked()
	r.own = r.seat
	f.ownRound.addWaitingLocked(r)
	return r
}

// admitLocked admits the response of f. Before f has settled it admits that of each flight of the
// round that has not settled, as any of them may have its header first. It reports false if f has
// settled and there is no memory for its body.
func (f *Flight[K, H]) admitLocked() bool {
	if f.settled {
		f.admitted = f.secured || f.secureLocked()
		return f.admitted
	}
	for g := f; g != nil; g = g.prevInRound {
		g.admitted = g.admitted || !g.settled
	}
	return true
}

func (f *Flight[K, H]) takeSeatLocked() seat[K, H] {
	f.activeSeats++
	f.seats++
	if f.seats == 1 { // nobody else uses the body yet, so no lock is needed
		f.body.enterLocked(&f.firstCursor)
		return seat[K, H]{flight: f, cursor: &f.firstCursor}
	}
	c := &cursor{}
	f.body.enter(c)
	return seat[K, H]{flight: f, cursor: c}
}

// Purge marks every flight of url, so that none of them is stored, and takes no
// more followers into them. It returns how many there were.
func (t *Table[K, H]) Purge(url K) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for f := t.all; f != nil; f = f.next {
		if f.url == url {
			f.purged = true
			t.unlistLocked(f.round)
			f.endIfUnwantedLocked()
			n++
		}
	}
	return n
}

// Len returns how many flights are in progress.
func (t *Table[K, H]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// Close ends every flight and waits for their fetches. These wait for no reader any
// more. Join can still be called; a flight that is begun afterwards fails with ErrClosed.
func (t *Table[K, H]) Close() {
	t.mu.Lock()
	t.closed = true
	for f := t.all; f != nil; f = f.next {
		f.life.end()
		f.body.unpace()
	}
	t.mu.Unlock()
	t.fetch.Wait()
}

// discardLocked closes the file of s, if there is one: in another goroutine without the lock, unless
// t is closed. A file here is rare: a reader that changed its seat, or left before it had an outcome,
// was the last one of a flight that had ended.
func (t *Table[K, H]) discardLocked(s spill) {
	switch {
	case s.file == nil:
	case t.closed: // Close does not wait for further goroutines
		s.close()
	default:
		t.fetch.Go(s.close)
	}
}

// unlistLocked makes r take no more readers.
func (t *Table[K, H]) unlistLocked(r *round[K, H]) {
	if r.listed {
		r.listed = false
		delete(t.byKey, r.key)
	}
}

// forgetLocked takes f out of the list t.all, if it is there.
func (t *Table[K, H]) forgetLocked(f *Flight[K, H]) {
	switch {
	case f.over: // it was taken out before
		return
	case f.prev != nil:
		f.prev.next = f.next
	default:
		t.all = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	}
	f.prev, f.next = nil, nil
	t.count--
}

func (t *Table[K, H]) remove(f *Flight[K, H]) {
	t.mu.Lock()
	t.ended.Add(1) // before others can lead a flight for the key
	f.unlistLocked()
	t.forgetLocked(f)
	if f.over = true; f.activeSeats > 0 {
		t.addReclaimableLocked(f)
	} else {
		t.removeReclaimableLocked(f)
	}
	t.mu.Unlock()
	f.life.end()
}
