package flight

import (
	"net/netip"
	"sync/atomic"
)

// maxRead is the most one Next returns, so that a reader's progress is seen in
// steps of that size.
const maxRead = 256 << 10

// Reader is one client's part in a flight, leader or follower. It must be
// closed. One goroutine at a time uses it, but Close may come from another.
type Reader[K comparable, H any] struct {
	seat[K, H] // that is read from; guarded by the table's mutex until there is an outcome
	table      *Table[K, H]
	client     netip.Prefix
	closed     atomic.Bool

	// guarded by the table's mutex
	own        seat[K, H]    // in the flight that it leads; none: it follows
	offer      seat[K, H]    // in the flight that has a header, while it decides
	stays      bool          // it wants no other flight's header than its own's
	awaits     *round[K, H]  // while it has no outcome
	next, prev *Reader[K, H] // that wait, too
	decides    *Flight[K, H] // that waits for its Admit
	early      bool          // it had joined that one before its header
}

// Flight returns the flight that is led; the leader's fetch works on it. For a follower it
// is the one that it reads.
func (r *Reader[K, H]) Flight() *Flight[K, H] {
	if r.own.flight != nil {
		return r.own.flight
	}
	return r.flight
}

// Header returns that of the flight which r reads: once Wait has returned it with Shared or,
// for who fetches itself, behind Publish.
func (r *Reader[K, H]) Header() H { return r.flight.header }

// Leads reports whether r leads the flight that it reads. Any outcome of Wait allows the question: a
// follower whose time is over is still moved when its flight fails.
func (r *Reader[K, H]) Leads() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.own.flight == r.flight
}

// Wait waits for the header: a leader for as long as it takes, a follower as p says. With
// Shared it returns the header and the Reader gives the body; with LeadAnew the Reader
// leads a further flight, which the caller must start with Go before it waits again. With
// any other outcome there is nothing to read and the caller closes the Reader. With Left it
// is closed already.
//
// A leader, too, may be given the header of another flight that was led for the same key,
// if suits says that it is right for it; it follows then. suits is called without a lock,
// in the caller's goroutine, while the leader's own fetch cannot pass Judge.
func (r *Reader[K, H]) Wait(p Patience, suits func(H) bool) (h H, o Outcome, err error) {
	w := waiter{patience: p}
	defer w.stop()
	for {
		r.table.mu.Lock()
		f, moved := r.outcomeOrMoveLocked()
		leads, leader := r.flight.round.leads, r.own.flight != nil
		r.table.mu.Unlock()
		switch {
		case f != nil && r.agrees(f, suits):
			return r.got(f)
		case f != nil:
			continue // its own, then
		case !leader && !w.start(leads):
			return h, TimedOut, nil
		}
		select {
		case <-moved:
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

// got is what f, which counts for r, has brought it.
func (r *Reader[K, H]) got(f *Flight[K, H]) (H, Outcome, error) {
	if f.outcome == Released && r.Leads() {
		return f.header, Shared, f.err // what cannot be shared is the leader's alone
	}
	return f.header, f.outcome, f.err
}

// abandon closes r before it has an outcome. What it leads may go on, for others or for
// the store: then abandon returns only when that has a header, or none, for until then the
// fetch may use the leader's request.
func (r *Reader[K, H]) abandon() {
	_ = r.Close()
	for {
		r.table.mu.Lock()
		own := r.own.flight
		over := own == nil || own.settled
		var moved <-chan struct{}
		if !over {
			moved = own.round.movesLocked()
		}
		r.table.mu.Unlock()
		if over {
			return
		}
		<-moved
	}
}

// Undecided returns nil where Wait would return at once, for the leader's fetch has a
// header or another one has; else a channel that is closed when it is worth asking again.
func (r *Reader[K, H]) Undecided() <-chan struct{} {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	round := r.flight.round
	if round.winner != nil || r.own.flight != nil && r.own.flight.settled {
		return nil
	}
	return round.movesLocked()
}

// leadAnew makes r lead a further flight if nobody has led one since leads, and reports
// whether it did.
func (r *Reader[K, H]) leadAnew(p Patience, leads int) bool {
	r.table.mu.Lock()
	round := r.flight.round
	if round.winner != nil || round.leads != leads || round.live >= p.flights() {
		r.table.mu.Unlock()
		return false
	}
	round.anewLocked(r)
	others := round.nudgersLocked()
	r.table.mu.Unlock()
	for _, n := range others {
		n.Nudge()
	}
	return true
}

// outcomeLocked returns the flight whose end counts for r, nil while there is none. Where
// that is not the one that r leads, which might still do, r has the last word; see agrees.
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
	case r.stays || own.judging || w.outcome != Shared:
		return nil // its own will do
	default:
		own.hold = make(chan struct{})
	}
	return w
}

// outcomeOrMoveLocked returns what outcomeLocked does, and where that is nil a channel that is closed
// when it is worth asking again.
func (r *Reader[K, H]) outcomeOrMoveLocked() (f *Flight[K, H], moved <-chan struct{}) {
	if f = r.outcomeLocked(); f == nil {
		moved = r.flight.round.movesLocked()
	}
	return f, moved
}

// agrees reports whether r takes the outcome of f, which may be another's flight while its
// own is held.
func (r *Reader[K, H]) agrees(f *Flight[K, H], suits func(H) bool) bool {
	own := r.own.flight
	if own == nil || own == f {
		return true
	}
	ok := suits(f.header)
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	if ok {
		own.forsaken = true
		s := r.offer
		if s.flight == nil {
			s = r.seat
		}
		r.settleLocked(s)
	} else {
		r.stays, own.surplus = true, false
	}
	close(own.hold)
	own.hold = nil
	return ok
}

// settleLocked makes s the seat that r reads from, and lets go of the others.
func (r *Reader[K, H]) settleLocked(s seat[K, H]) {
	if r.decides != s.flight {
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
	s.flight.round.goneLocked(r)
}

// moveLocked gives r, if it sits in f, which has failed, a seat in the newest flight.
func (r *Reader[K, H]) moveLocked(f *Flight[K, H]) {
	if r.flight != f || r.own.flight == f {
		return
	}
	old := r.seat
	r.seat = f.round.newest.takeSeatLocked()
	r.table.discardLocked(old.leaveLocked())
}

// leaveLocked gives the seat up and returns what is to be closed without the lock.
func (s seat[K, H]) leaveLocked() spill {
	s.flight.interest--
	s.flight.endIfUnwantedLocked()
	done := s.flight.body.leave(s.cursor)
	if s.flight.interest == 0 && s.flight.over {
		s.flight.table.firmLocked(s.flight)
	}
	return done
}

// Next returns the next bytes of the body, at most 256 KiB, and waits for them.
// They are shared by all readers and must not be changed; they stay valid for
// good. io.EOF ends a whole body, ErrBehind one that has gone on without the reader, and
// any other error a broken one.
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
// if nobody else reads. It is for bodies of which so little is left that breaking them off
// would cost more.
func (r *Reader[K, H]) Leave() {
	r.table.mu.Lock()
	r.flight.lasting = true
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
	r.flight.round.goneLocked(r)
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

// Secured reports whether the response was admitted, and memory for it reserved, when its
// header came or somebody joined; see Publish.
func (r *Reader[K, H]) Secured() bool {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	return r.flight.secured
}
