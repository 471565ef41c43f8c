package flight

import "time"

// round is the wait for one header: the flights that are led for it, one after the other
// as long as none has a header, and the readers that wait for whichever is first. Most
// rounds have one flight. It is guarded by the table's mutex.
type round[K comparable, H any] struct {
	// moved is closed when a flight of the round settles or another one is led. It is there once
	// somebody waits for it; see movesLocked.
	moved   chan struct{}
	key     K
	begun   uint64        // the generation of purges when it was first led
	newest  *Flight[K, H] // the one led last; the others follow by elder
	winner  *Flight[K, H] // the one whose end counts for all; nil: none yet
	live    int           // flights that have neither settled nor been stopped
	open    int           // flights that have not settled
	leads   int           // how often it was led
	listed  bool          // it takes readers
	waiting *Reader[K, H] // one of the ring of readers that have no outcome yet
}

// seat is one reader's place in a flight.
type seat[K comparable, H any] struct {
	flight *Flight[K, H]
	cursor *cursor
}

// Patience is how long a follower waits for a header.
type Patience struct {
	// Lead is how long a follower waits before it leads a flight of its own, if nobody else
	// has meanwhile. At 0 or less nobody does.
	Lead time.Duration
	// Most is how long it waits altogether; 0 or less is no limit. A round has at most
	// Most/Lead flights under way at once.
	Most time.Duration
	// Client is who waits: the wait ends when it has left. Nil never leaves.
	Client interface {
		// Gone returns a channel that is closed once the client has left. It is asked for
		// only where there is a wait.
		Gone() <-chan struct{}
	}
}

// left is closed when the client has left.
func (p *Patience) left() <-chan struct{} {
	if p.Client == nil {
		return nil
	}
	return p.Client.Gone()
}

// flights is how many may be under way at once.
func (p Patience) flights() int {
	if p.Most <= 0 || p.Lead <= 0 {
		return 1 << 30
	}
	return max(1, int(p.Most/p.Lead))
}

// waiter is the time that one follower waits.
type waiter struct {
	patience Patience
	waited   time.Duration
	step     time.Duration // that timer waits
	timer    *time.Timer   // nil: none runs
	fires    <-chan time.Time
	leads    int // of the round when the timer was set
}

// start sets the timer if there is none, and reports false if the time is over.
func (w *waiter) start(leads int) bool {
	p := &w.patience
	if w.timer != nil || p.Lead <= 0 && p.Most <= 0 {
		return true
	}
	if w.step = p.Lead; p.Most > 0 && (w.step <= 0 || p.Most-w.waited < w.step) {
		w.step = p.Most - w.waited
	}
	if w.step <= 0 {
		return false
	}
	w.timer, w.leads = time.NewTimer(w.step), leads
	w.fires = w.timer.C
	return true
}

func (w *waiter) fired() {
	w.waited += w.step
	w.timer, w.fires = nil, nil
}

// mayWait reports whether there is time left.
func (w *waiter) mayWait() bool { return w.patience.Most <= 0 || w.waited < w.patience.Most }

func (w *waiter) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// addLocked makes f one of the round.
func (r *round[K, H]) addLocked(f *Flight[K, H]) {
	f.round, f.elder, r.newest = r, r.newest, f
	r.live++
	r.open++
	r.leads++
}

// awaitLocked adds rd to the readers that wait.
func (r *round[K, H]) awaitLocked(rd *Reader[K, H]) {
	if rd.awaits = r; r.waiting == nil {
		r.waiting, rd.next, rd.prev = rd, rd, rd
		return
	}
	rd.next, rd.prev = r.waiting, r.waiting.prev
	rd.prev.next, rd.next.prev = rd, rd
}

// goneLocked takes rd out of the readers that wait.
func (r *round[K, H]) goneLocked(rd *Reader[K, H]) {
	if rd.awaits == nil {
		return
	}
	rd.prev.next, rd.next.prev = rd.next, rd.prev
	switch {
	case rd.next == rd:
		r.waiting = nil
	case r.waiting == rd:
		r.waiting = rd.next
	}
	rd.awaits, rd.next, rd.prev = nil, nil, nil
}

// eachWaitingLocked calls do with every reader that waits.
func (r *round[K, H]) eachWaitingLocked(do func(*Reader[K, H])) {
	for rd := r.waiting; rd != nil; {
		do(rd)
		if rd = rd.next; rd == r.waiting {
			return
		}
	}
}

// settledLocked is told that f, a flight of the round, has settled. The first that brings
// more than a failure counts for all that wait; a failure does when no other is under way.
func (r *round[K, H]) settledLocked(f *Flight[K, H]) {
	r.open--
	if !f.stopped {
		r.live--
	}
	switch {
	case r.winner != nil:
	case f.outcome == Failed && r.live > 0:
		r.eachWaitingLocked(func(rd *Reader[K, H]) { rd.moveLocked(f) })
	default:
		r.winner = f
		if f.outcome == Shared {
			r.shareLocked(f)
		}
	}
	r.tellLocked()
}

// movesLocked returns a channel that is closed when a flight of the round settles or another one is
// led. Most rounds are waited for by nobody.
func (r *round[K, H]) movesLocked() <-chan struct{} {
	if r.moved == nil {
		r.moved = make(chan struct{})
	}
	return r.moved
}

// tellLocked wakes those that wait for the round to move.
func (r *round[K, H]) tellLocked() {
	if r.moved != nil {
		close(r.moved)
		r.moved = nil
	}
}

// shareLocked gives every waiting reader a seat in f, before its body goes on, and lets the
// other flights end with their leaders.
func (r *round[K, H]) shareLocked(f *Flight[K, H]) {
	if f == r.newest && f.elder == nil {
		return // the only one: they sit there
	}
	r.eachWaitingLocked(func(rd *Reader[K, H]) {
		if rd.flight != f && rd.own.flight != f {
			rd.offer = f.takeSeatLocked()
		}
	})
	for g := r.newest; g != nil; g = g.elder {
		if g != f && !g.settled {
			g.surplus = true
			g.endIfUnwantedLocked()
		}
	}
}

// anewLocked makes rd, a follower, the leader of a further flight of its round.
func (r *round[K, H]) anewLocked(rd *Reader[K, H]) {
	first := rd.flight
	f := first.table.beginLocked(first.key, first.url, first.admitted, rd.client)
	r.addLocked(f)
	rd.own = f.takeSeatLocked()
	r.tellLocked()
}

// nudgersLocked returns what leaders of the round wait for in their own goroutines.
func (r *round[K, H]) nudgersLocked() (all []nudger) {
	for f := r.newest; f != nil; f = f.elder {
		if f.waits != nil {
			all = append(all, f.waits)
		}
	}
	return all
}
