package flight

import (
	"net/netip"
	"sync/atomic"
)

// maxRead is the most that one Next returns. It bounds the steps in which a reader's progress is
// noted.
const maxRead = 256 << 10

// Reader is one client's part in a flight, leader or follower. It must be
// closed. One goroutine at a time uses it, but Close may come from another.
type Reader[K comparable, H any] struct {
	seat[K, H] // the seat it reads from; guarded by the table's mutex until there is an outcome
	table      *Table[K, H]
	client     netip.Prefix
	closed     atomic.Bool

	// guarded by the table's mutex
	own         seat[K, H]    // in the flight that it leads; zero: it follows
	offer       seat[K, H]    // in the flight that has a header, until it has decided
	keepsOwn    bool          // it has refused the header of another flight
	awaits      *round[K, H]  // while it has no outcome
	next, prev  *Reader[K, H] // in the ring of readers that wait for the round
	undecidedIn *Flight[K, H] // the flight that waits for its Admit
	joinedEarly bool          // it joined that flight before its header
}

// Flight returns the flight that r leads; the leader's fetch works on it. For a follower it
// returns the flight that r reads.
func (r *Reader[K, H]) Flight() *Flight[K, H] {
	if r.own.flight != nil {
		return r.own.flight
	}
	return r.flight
}

// Header returns the header of the flight that r reads. It may be called once Wait has returned
// Shared or, by a caller that fetches itself, after Publish.
func (r *Reader[K, H]) Header() H { return r.flight.header }

// Leads reports whether r leads the flight that it reads. It takes the mutex, because it may be
// called after any outcome of Wait: after TimedOut, r can still be moved when its flight fails.
func (r *Reader[K, H]) Leads() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.own.flight == r.flight
}

// Wait waits for the header: a leader for as long as it takes, a follower as p says. With
// Shared it returns the header and the Reader gives the body. With LeadAnew the Reader
// leads a further flight, which the caller must start with Go before it waits again. With
// any other outcome there is nothing to read and the caller closes the Reader. With Left it
// is closed already.
//
// A leader, too, may be given the header of another flight that was led for the same key,
// if suits says that the header answers its request. It is a follower then. suits is called
// without a lock, in the caller's goroutine, while the leader's own fetch cannot pass Judge.
func (r *Reader[K, H]) Wait(p Patience, suits func(H) bool) (h H, o Outcome, err error) {
	w := waiter{patience: p}
	defer w.stop()
	for {
		r.table.mu.Lock()
		f, changed := r.outcomeOrChangedLocked()
		leads, leader := r.flight.round.leads, r.own.flight != nil
		r.table.mu.Unlock()
		switch {
		case f != nil && r.accepts(f, suits):
			return r.outcomeOf(f)
		case f != nil:
			continue // wait for its own flight
		case !leader && !w.start(leads):
			return h, TimedOut, nil
		}
		select {
		case <-changed:
		case <-w.fires:
			if w.fired(); w.mayWait() && r.leadAnew(p, w.leads) {
				return h, LeadAnew, nil
			}
		case <-p.left():
			r.abandon()
			return h, Left, nil
		}
	}
}

// outcomeOf returns what Wait returns when f is the flight whose end counts for r.
func (r *Reader[K, H]) outcomeOf(f *Flight[K, H]) (H, Outcome, error) {
	if f.outcome == Released && r.Leads() {
		return f.header, Shared, f.err // the leader gets what cannot be shared
	}
	return f.header, f.outcome, f.err
}

// abandon closes r before it has an outcome. The flight that it leads may go on, for others or for
// the store. Then abandon returns only when that flight has settled, because until then the fetch
// may use the leader's request.
func (r *Reader[K, H]) abandon() {
	_ = r.Close()
	for {
		r.table.mu.Lock()
		own := r.own.flight
		over := own == nil || own.settled
		var changed <-chan struct{}
		if !over {
			changed = own.round.changedLocked()
		}
		r.table.mu.Unlock()
		if over {
			return
		}
		<-changed
	}
}

// Undecided returns nil if Wait would return at once: the leader's own flight, or another one of
// the round, has an outcome. Otherwise it returns a channel that is closed when it is worth asking
// again.
func (r *Reader[K, H]) Undecided() <-chan struct{} {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	round := r.flight.round
	if round.winner != nil || r.own.flight != nil && r.own.flight.settled {
		return nil
	}
	return round.changedLocked()
}

// leadAnew makes r lead a further flight, if nobody has led one since the round had been led leads
// times. It reports whether it did.
func (r *Reader[K, H]) leadAnew(p Patience, leads int) bool {
	r.table.mu.Lock()
	round := r.flight.round
	if round.winner != nil || round.leads != leads || round.live >= p.flights() {
		r.table.mu.Unlock()
		return false
	}
	round.leadFurtherLocked(r)
	others := round.nudgersLocked()
	r.table.mu.Unlock()
	for _, n := range others {
		n.Nudge()
	}
	return true
}

// outcomeLocked returns the flight whose end counts for r, nil while there is none. If r leads
// another flight, which has no outcome yet, r may refuse that one; see accepts.
func (r *Reader[K, H]) outcomeLocked() *Flight[K, H] {
	own, w := r.own.flight, r.flight.round.winner
	switch {
	case own != nil && own.settled:
		r.settleLocked(r.own)
		return own
	case w == nil:
		return nil
	case own == nil && r.offer.flight != nil:
		r.settleLocked(r.offer)
	case own == nil:
		r.settleLocked(r.seat)
	case r.keepsOwn || own.judging || w.outcome != Shared:
		return nil // it waits for its own
	default:
		own.hold = make(chan struct{})
	}
	return w
}

// outcomeOrChangedLocked returns what outcomeLocked returns. If that is nil, changed is a channel that is
// closed when it is worth asking again.
func (r *Reader[K, H]) outcomeOrChangedLocked() (f *Flight[K, H], changed <-chan struct{}) {
	if f = r.outcomeLocked(); f == nil {
		changed = r.flight.round.changedLocked()
	}
	return f, changed
}

// accepts reports whether r takes the outcome of f. If f is not the flight that r leads, suits
// decides, and the flight that r leads is held in Judge meanwhile.
func (r *Reader[K, H]) accepts(f *Flight[K, H], suits func(H) bool) bool {
	own := r.own.flight
	if own == nil || own == f {
		return true
	}
	ok := suits(f.header)
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	if ok {
		own.leaderGone = true
		s := r.offer
		if s.flight == nil {
			s = r.seat
		}
		r.settleLocked(s)
	} else {
		r.keepsOwn, own.superseded = true, false
	}
	close(own.hold)
	own.hold = nil
	return ok
}

// settleLocked makes s the seat that r reads from, and gives up the others.
func (r *Reader[K, H]) settleLocked(s seat[K, H]) {
	if r.undecidedIn != s.flight {
		r.decideLocked()
	}
	old := [...]seat[K, H]{r.seat, r.own, r.offer}
	r.seat, r.offer = s, seat[K, H]{}
	if r.own.flight != s.flight {
		r.own = seat[K, H]{}
	}
	for i, o := range old {
		if o.flight != nil && o.cursor != s.cursor && (i == 0 || o.cursor != old[0].cursor) {
			r.table.discardLocked(o.leaveLocked())
		}
	}
	s.flight.round.removeWaitingLocked(r)
}

// moveLocked gives r a seat in the newest flight of the round, if r follows f, which has failed.
func (r *Reader[K, H]) moveLocked(f *Flight[K, H]) {
	if r.flight != f || r.own.flight == f {
		return
	}
	old := r.seat
	r.seat = f.round.newest.takeSeatLocked()
	r.table.discardLocked(old.leaveLocked())
}

// leaveLocked gives the seat up. The caller closes what it returns, without the lock.
func (s seat[K, H]) leaveLocked() spill {
	s.flight.activeSeats--
	s.flight.endIfUnwantedLocked()
	done := s.flight.body.leave(s.cursor)
	if s.flight.activeSeats == 0 && s.flight.over {
		s.flight.table.removeReclaimableLocked(s.flight)
	}
	return done
}

// Next returns the next bytes of the body, at most 256 KiB, and waits for them.
// They are shared by all readers and must not be changed; they stay valid for
// good. io.EOF ends a whole body, ErrBehind the reading of a reader that was left behind, and
// any other error a broken body.
func (r *Reader[K, H]) Next() ([]byte, error) { return r.flight.body.next(r.cursor, maxRead) }

// Read is Next as an io.Reader.
func (r *Reader[K, H]) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	q, err := r.flight.body.next(r.cursor, len(p))
	return copy(p, q), err
}

// Leave is Close for a reader that has all that it needs. The fetch goes on to its end, even
// if nobody else reads. It is for bodies of which so little is left that it costs less to read
// the rest than to break off.
func (r *Reader[K, H]) Leave() {
	r.table.mu.Lock()
	r.flight.runsToEnd = true
	r.table.mu.Unlock()
	_ = r.Close()
}

// Close takes the reader out of the flight. If nobody else reads and nobody
// will store, the fetch ends.
func (r *Reader[K, H]) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.table.mu.Lock()
	r.decideLocked()
	r.flight.round.removeWaitingLocked(r)
	done := r.leaveLocked()
	if r.own.flight != nil && r.own.cursor != r.cursor {
		r.table.discardLocked(r.own.leaveLocked())
	}
	if r.offer.flight != nil {
		r.table.discardLocked(r.offer.leaveLocked())
	}
	r.table.mu.Unlock()
	done.close()
	return nil
}

// Secured reports whether the response is admitted and memory for it is reserved; see Publish.
func (r *Reader[K, H]) Secured() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.flight.secured
}
