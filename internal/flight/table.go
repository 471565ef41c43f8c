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

// Admission is what a request brings into a flight: whether it admits the
// response to the store if it leads, and if it follows. (Joining a flight can
// itself be the sighting that admits.)
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
	// Spool gives files for what such a fetch has beyond that; nil is none, and the fetch
	// waits. It is called by many goroutines at once.
	Spool func() (SpoolFile, error)
	// Now is the clock; nil leaves readers behind as soon as they lag.
	Now func() time.Time
	// Generation counts purges whose reach is not known before the header is here: a
	// flight takes followers only until it grows. It is called by many goroutines at
	// once. Nil stands for a number that stays the same.
	Generation func() uint64
}

// Table holds the flights in progress. K is the key's hash, H what a fetch
// publishes as header. It is safe for concurrent use.
type Table[K comparable, H any] struct {
	keeping
	limit      int64
	generation func() uint64
	fetch      sync.WaitGroup
	ended      atomic.Uint64 // see Ended
	spare      sync.Pool     // of flights that Conclude has ended, all zero

	mu     sync.Mutex
	byKey  map[K]*round[K, H]
	all    *Flight[K, H] // a list of those in progress
	count  int           // how many
	loose  *Flight[K, H] // a list, newest first, of flights that can make room for what is to be stored
	closed bool
}

// NewTable returns a Table whose flights keep bodies of at most ObjectBytes
// whole, all of them together within the budget.
func NewTable[K comparable, H any](o Options) *Table[K, H] {
	if o.Generation == nil {
		o.Generation = func() uint64 { return 0 }
	}
	t := &Table[K, H]{
		keeping: keeping{budget: o.Budget, ahead: max(o.Ahead, windowBytes), spool: o.Spool, now: o.Now},
		limit:   o.ObjectBytes, generation: o.Generation,
		byKey: map[K]*round[K, H]{},
	}
	t.spare.New = func() any { return &Flight[K, H]{} }
	t.ended.Store(1)
	return t
}

// Ended returns a number above 0 that grows whenever a flight has been stored, and when one ends. Who
// leads a flight and finds the number that was before its look-up need not look up again: what flights
// have stored, that look-up has seen. It may be called by many goroutines at once, and takes no mutex.
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
	r.flight.first.listed = true
	t.byKey[key] = &r.flight.first
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

// Lead begins a flight of a client that takes no followers.
func (t *Table[K, H]) Lead(key, url K, admit bool, c netip.Prefix) *Reader[K, H] {
	now := t.generation()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leadLocked(key, url, now, admit, c)
}

// followLocked takes a seat for a request of the generation now.
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
		round.awaitLocked(r)
	}
	return r
}

// beginLocked makes a flight that belongs to no round yet.
func (t *Table[K, H]) beginLocked(key, url K, admit bool, c netip.Prefix) *Flight[K, H] {
	f := t.spare.Get().(*Flight[K, H])
	f.table, f.key, f.url, f.admitted, f.whole = t, key, url, admit, true
	f.body.begin(t.keeping, c, t.limit)
	if t.closed {
		f.life.end()
	}
	if f.behind = t.all; f.behind != nil {
		f.behind.before = f
	}
	t.all = f
	t.count++
	return f
}

// leadLocked begins a flight, the first one of its round, and returns its leader.
func (t *Table[K, H]) leadLocked(key, url K, now uint64, admit bool, c netip.Prefix) *Reader[K, H] {
	f := t.beginLocked(key, url, admit, c)
	f.first.key, f.first.begun = key, now
	f.first.addLocked(f)
	r := &f.leader
	r.table, r.seat = t, f.takeSeatLocked()
	r.own = r.seat
	f.first.awaitLocked(r)
	return r
}

// admitLocked admits what f brings, or whichever of its round has a header first, and
// reports false where that is on its way and there is no memory for it.
func (f *Flight[K, H]) admitLocked() bool {
	if f.settled {
		f.admitted = f.secured || f.secureLocked()
		return f.admitted
	}
	for g := f; g != nil; g = g.elder {
		g.admitted = g.admitted || !g.settled
	}
	return true
}

func (f *Flight[K, H]) takeSeatLocked() seat[K, H] {
	f.interest++
	f.seats++
	if f.seats == 1 { // nobody else knows the body yet
		f.body.enterLocked(&f.sits)
		return seat[K, H]{flight: f, cursor: &f.sits}
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
	for f := t.all; f != nil; f = f.behind {
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

// Close ends every flight and waits for their fetches, which wait for no reader any
// more. Join stays usable; what is begun afterwards fails with ErrClosed.
func (t *Table[K, H]) Close() {
	t.mu.Lock()
	t.closed = true
	for f := t.all; f != nil; f = f.behind {
		f.life.end()
		f.body.hurry()
	}
	t.mu.Unlock()
	t.fetch.Wait()
}

// discardLocked closes the file of s, if there is one: without the lock, unless t is closed. That
// is rare: the reader that moved on, or left before it had an outcome, was the last of a flight
// that had ended.
func (t *Table[K, H]) discardLocked(s spill) {
	switch {
	case s.file == nil:
	case t.closed: // nobody waits for further goroutines
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

// forgetLocked takes f out of the list of all, if it is there.
func (t *Table[K, H]) forgetLocked(f *Flight[K, H]) {
	switch {
	case f.over: // it was taken out before
		return
	case f.before != nil:
		f.before.behind = f.behind
	default:
		t.all = f.behind
	}
	if f.behind != nil {
		f.behind.before = f.before
	}
	f.before, f.behind = nil, nil
	t.count--
}

func (t *Table[K, H]) remove(f *Flight[K, H]) {
	t.mu.Lock()
	t.ended.Add(1) // before others can lead a flight for the key
	f.unlistLocked()
	t.forgetLocked(f)
	if f.over = true; f.interest > 0 {
		t.loosenLocked(f)
	} else {
		t.firmLocked(f)
	}
	t.mu.Unlock()
	f.life.end()
}
