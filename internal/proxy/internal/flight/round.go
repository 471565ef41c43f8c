package flight

import "time"

// round is the wait for one header. It has the flights that are led for the header, one after the
// other as long as none has it, and the readers that wait for the first. Most rounds have one
// flight. It is guarded by the table's mutex.
type round[K comparable, H any] struct {
	// changed is closed when a flight of the round settles or another one is led. It is nil until
	// somebody waits for it; see changedLocked.
	changed chan struct{}
	key     K
	begun   uint64        // the generation of purges when it was first led
	newest  *Flight[K, H] // the one led last; the others follow by prevInRound
	winner  *Flight[K, H] // the one whose end counts for all; nil: none yet
	live    int           // flights that have neither settled nor been stopped
	leads   int           // flights that were ever led for it
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
	// Lead is how long a follower waits before it leads a flight of its own, unless another
	// follower has done so meanwhile. 0 or less: no follower leads.
	Lead time.Duration
	// Most is how long it waits altogether; 0 or less is no limit. A round has at most
	// Most/Lead flights under way at once.
	Most time.Duration
	// Client is the client that waits: the wait ends when it has left. Nil never leaves.
	Client interface {
		// Gone returns a channel that is closed once the client has left. It is called
		// only if there is a wait.
		Gone() <-chan struct{}
	}
}

// left returns a channel that is closed when the client has left.
func (p *Patience) left() <-chan struct{} {
	if p.Client == nil {
		return nil
	}
	return p.Client.Gone()
}

// flights returns how many flights of a round may be under way at once.
func (p Patience) flights() int {
	if p.Most <= 0 || p.Lead <= 0 {
		return 1 << 30
	}
	return max(1, int(p.Most/p.Lead))
}

// waiter measures how long one follower has waited.
type waiter struct {
	patience Patience
	waited   time.Duration
	step     time.Duration // what timer was set to
	timer    *time.Timer   // nil: none runs
	fires    <-chan time.Time
	leads    int // round.leads when the timer was set
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
	f.round, f.prevInRound, r.newest = r, r.newest, f
	r.live++
	r.leads++
}

// addWaitingLocked adds rd to the readers that wait.
func (r *round[K, H]) addWaitingLocked(rd *Reader[K, H]) {
	if rd.awaits = r; r.waiting == nil {
		r.waiting, rd.next, rd.prev = rd, rd, rd
		return
	}
	rd.next, rd.prev = r.waiting, r.waiting.prev
	rd.prev.next, rd.next.prev = rd, rd
}

// removeWaitingLocked takes rd out of the readers that wait.
func (r *round[K, H]) removeWaitingLocked(rd *Reader[K, H]) {
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

// flightSettledLocked is called when f, a flight of the round, has settled. The first flight that
// does not fail counts for all that wait. A failure counts if no other flight is under way.
func (r *round[K, H]) flightSettledLocked(f *Flight[K, H]) {
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
	r.wakeLocked()
}

// changedLocked returns a channel that is closed when a flight of the round settles or another one is
// led. Most rounds are waited for by nobody.
func (r *round[K, H]) changedLocked() <-chan struct{} {
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// wakeLocked wakes those that wait on changed.
func (r *round[K, H]) wakeLocked() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// shareLocked gives every waiting reader a seat in f, before the body of f goes on. The other
// flights of the round end once their leaders have left them.
func (r *round[K, H]) shareLocked(f *Flight[K, H]) {
	if f == r.newest && f.prevInRound == nil {
		return // the only flight: they have a seat in it
	}
	r.eachWaitingLocked(func(rd *Reader[K, H]) {
		if rd.flight != f && rd.own.flight != f {
			rd.offer = f.takeSeatLocked()
		}
	})
	for g := r.newest; g != nil; g = g.prevInRound {
		if g != f && !g.settled {
			g.superseded = true
			g.endIfUnwantedLocked()
		}
	}
}

// leadFurtherLocked makes rd, a follower, the leader of a further flight of its round.
func (r *round[K, H]) leadFurtherLocked(rd *Reader[K, H]) {
	first := rd.flight
	f := first.table.beginLocked(first.key, first.url, first.admitted, rd.client)
	r.addLocked(f)
	rd.own = f.takeSeatLocked()
	r.wakeLocked()
}

// nudgersLocked returns what fetches in the goroutines of leaders of the round wait for.
func (r *round[K, H]) nudgersLocked() (all []nudger) {
	for f := r.newest; f != nil; f = f.prevInRound {
		if f.waitingOn != nil {
			all = append(all, f.waitingOn)
		}
	}
	return all
}
