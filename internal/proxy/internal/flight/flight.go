package flight

import (
	"context"
)

// Outcome is how a flight's header phase ended for one of its readers.
type Outcome uint8

const (
	// Shared: the header is here, and the Reader gives the body.
	Shared Outcome = iota
	// Released: the response cannot be shared with followers; fetch alone.
	Released
	// Filled: the response was stored meanwhile; look it up again.
	Filled
	// Failed: there is no response; the error says why.
	Failed
	// TimedOut: no flight of the round had a header within the wait.
	TimedOut
	// LeadAnew: no header yet; the follower leads a further flight from now on.
	LeadAnew
	// Left: the client left before there was a header.
	Left
)

// Flight is the fetching side of one flight. Its methods belong to the one
// goroutine that fetches; readers use Reader.
type Flight[K comparable, H any] struct {
	table *Table[K, H]
	key   K
	url   K
	body  body
	life  lifetime

	// A flight contains its first round, leader and cursor, so that most flights are one allocation.

	ownRound    round[K, H]  // its round, if it is the first flight of it
	leader      Reader[K, H] // its leader, if it is the first flight of its round
	firstCursor cursor       // the cursor of the first seat that was taken

	// in the list of Table.all
	prev, next *Flight[K, H]

	// guarded by table.mu; outcome, header and err do not change once it has settled
	settled         bool    // it has an outcome
	outcome         Outcome // for followers
	header          H
	err             error
	round           *round[K, H]
	prevInRound     *Flight[K, H] // led before it, for the same round
	judging         bool          // see Judge
	hold            chan struct{} // not nil: Judge waits until it is closed
	leaderGone      bool          // its leader reads another flight of the round
	superseded      bool          // another flight of the round had a header first
	secured         bool          // it is admitted, and memory is reserved for it
	storable        bool          // the header says so
	length          int64         // bytes of the body, -1 if unknown; set with the header
	over            bool          // its body has ended
	reclaimable     bool          // it is in Table.reclaimable
	nextReclaimable *Flight[K, H] // in that list
	prevReclaimable *Flight[K, H]
	stopped         bool // it was ended before it had an outcome
	seats           int  // how many were ever taken
	activeSeats     int  // seats whose readers have not left
	admitted        bool // to be stored if it can be
	runsToEnd       bool // the fetch goes on to its end though nobody reads; see Reader.Leave
	whole           bool // the body is kept whole and may be stored
	purged          bool
	fetchBegun      bool   // Go or Run has begun its fetch, or nobody will
	waitingOn       nudger // what the fetch waits for in the goroutine of the leader

	// guarded as well; see Response.Recounted
	recounted      bool
	undecided      int           // followers that have yet to say whether they admit it
	undecidedEarly int           // how many of them had joined before the header
	decisions      chan struct{} // not nil: closed when there is a decision
}

// Context ends when nobody wants the flight any more, or the table closes. The
// fetch must end with it.
func (f *Flight[K, H]) Context() context.Context { return &f.life }

// Judge is called when the header is here. It reports whether the fetch may still use the leader's
// request. If not, the leader was given the header of another flight meanwhile, and this flight
// is to end. Judge also does what Waited does.
func (f *Flight[K, H]) Judge() bool {
	f.table.mu.Lock()
	f.waitingOn = nil
	for f.hold != nil {
		held := f.hold
		f.table.mu.Unlock()
		<-held
		f.table.mu.Lock()
	}
	defer f.table.mu.Unlock()
	f.judging = !f.leaderGone
	return f.judging
}

// Response is what the header says of a response.
type Response struct {
	Storable  bool  // it may be stored
	Shareable bool  // followers may have it
	Resumable bool  // a reader that has a part of it can get the rest by another request
	Length    int64 // bytes of the body, -1 if unknown

	// Recounted: the key became known only from the header, so joining has not admitted the response. Each follower that it
	// suits then calls Reader.Admit. Admits is the leader's decision.
	Recounted, Admits bool
}

// Publish gives the header to the readers. If the response may not be stored, or not be shared,
// followers are released and the flight takes no more.
//
// For a response that is to be stored it reserves memory: for all of the body if the length is
// known, else for a first piece. If there is no memory the response is not stored. Followers
// are then released, unless they could get the rest by another request when they fall behind.
func (f *Flight[K, H]) Publish(h H, r Response) {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.storable, f.length = r.Storable, r.Length
	f.recountLocked(r)
	short := r.Storable && f.admitted && !f.secureLocked()
	o := Shared
	if !r.Storable || !r.Shareable || short && !r.Resumable {
		o = Released
	}
	if f.whole = r.Storable && !short; !f.whole {
		f.body.window(false) // before anybody reads
	} else if !f.secured {
		f.table.addReclaimableLocked(f)
	}
	f.settleLocked(o, h, nil)
	f.askWaitingLocked()
	if o == Released || short {
		f.unlistLocked()
	}
	f.endIfUnwantedLocked()
}

// secureLocked reserves memory for a response that is to be stored, if need be by taking it from
// other flights. It reports whether there was enough.
func (f *Flight[K, H]) secureLocked() bool {
	left := f.length
	if left >= 0 {
		left = max(0, left-f.body.length())
	}
	for {
		lacks := f.body.secure(left)
		if lacks == 0 {
			f.secured = true
			f.table.removeReclaimableLocked(f)
			return true
		}
		if !f.table.reclaimLocked(f, lacks) {
			return false
		}
	}
}

// Answer gives the leader and the followers a header without a body from the flight, and ends the
// flight. Nothing of it is stored.
func (f *Flight[K, H]) Answer(h H) {
	f.table.mu.Lock()
	f.whole = false
	f.settleLocked(Shared, h, nil)
	f.table.mu.Unlock()
	f.table.remove(f)
	f.body.end(nil)
}

// Fill ends a flight that never fetched, because the response was stored
// after the leader's look-up and before it led the flight.
func (f *Flight[K, H]) Fill() { f.fail(Filled, nil) }

// Space returns memory for the next bytes of the body: read into it, then Commit.
// left is how many bytes are to come, -1 if unknown. It waits for the fastest reader, unless
// the body is to be stored or the table is closed.
func (f *Flight[K, H]) Space(left int64) []byte {
	for {
		room, needs, lacks := f.body.space(left)
		switch needs {
		case needNothing:
			return room
		case needMemory:
			if f.makeRoom(lacks) {
				continue
			}
			f.stopKeeping()
		case needWindow:
			f.stopKeeping()
		case needSpool:
			f.body.spillOldest()
		}
	}
}

// makeRoom takes lacks bytes of memory from other flights, and reports whether it could.
func (f *Flight[K, H]) makeRoom(lacks int64) bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	return f.table.reclaimLocked(f, lacks)
}

// stopKeeping stops keeping the body whole.
func (f *Flight[K, H]) stopKeeping() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.stopKeepingLocked(false)
	f.table.addReclaimableLocked(f)
}

// stopKeepingLocked does so. yields frees memory for other flights at once; see body.window.
func (f *Flight[K, H]) stopKeepingLocked(yields bool) {
	if f.whole {
		f.whole = false
		f.unlistLocked()
		f.endIfUnwantedLocked()
	}
	// Only now may the beginning be dropped: the cursors of the readers that joined before keep
	// what they need, and no reader joins any more.
	f.body.window(yields)
}

// Commit adds n bytes, written to what Space returned, to the body. last says that they complete
// it: readers get them with Finish.
func (f *Flight[K, H]) Commit(n int, last bool) { f.body.commit(n, last) }

// Kept is what a flight has of its body at the end.
type Kept uint8

const (
	// KeptForStore: the body is whole and admitted.
	KeptForStore Kept = iota
	// HeldBack: the body is whole, and nobody admitted it. It may not have been kept.
	HeldBack
	// Outgrown: it was not kept whole, because the limit of one body or the budget of
	// all was reached, or the response may not be stored.
	Outgrown
	// PurgedMeanwhile: the URL was purged since the flight began.
	PurgedMeanwhile
)

// Whole is called when the body is complete, before Finish, and says what there
// is to store. For KeptForStore it returns the body in one piece. Otherwise the flight
// takes no more followers from this moment, so none can count on a store that
// does not come, and the body is nil. held says that the caller wants the body of HeldBack, too:
// then Whole returns it if it was kept.
func (f *Flight[K, H]) Whole(held bool) (body []byte, k Kept) {
	f.table.mu.Lock()
	f.lastDecisionsLocked()
	switch {
	case f.purged:
		k = PurgedMeanwhile
	case !f.storable, f.body.length() > f.table.limit, f.admitted && !f.whole:
		k = Outgrown
	case !f.admitted:
		if k, held = HeldBack, held && f.whole; held {
			f.table.removeReclaimableLocked(f) // until it ends others take no memory of it
		}
	}
	if k != KeptForStore {
		f.whole = false
		f.unlistLocked()
	}
	f.table.mu.Unlock()
	if k == KeptForStore || k == HeldBack && held {
		return f.body.bytes(), k
	}
	return nil, k
}

// Admitted reports whether the response will be stored if it can be.
func (f *Flight[K, H]) Admitted() bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	return f.admitted
}

// KeptWhole reports whether the body is still kept whole.
func (f *Flight[K, H]) KeptWhole() bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	return f.whole
}

// Purged reports whether the URL was purged since the flight began. A store
// that holds the lock a purge takes next may rely on a false.
func (f *Flight[K, H]) Purged() bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	return f.purged
}

// Finish ends the flight: whole with a nil err; otherwise readers get err after
// the bytes they have been shown, or in place of the header.
func (f *Flight[K, H]) Finish(err error) {
	f.table.mu.Lock()
	settled := f.settled
	f.table.mu.Unlock()
	if !settled {
		f.fail(Failed, err)
		return
	}
	f.table.remove(f)
	f.body.end(err)
}

// Stored is called between Whole and Finish, when the body that Whole returned is in the store. The
// store owns its memory from then on.
func (f *Flight[K, H]) Stored(body []byte) {
	f.table.ended.Add(1)
	f.body.stored(body)
}

// fail ends a flight that has no header.
func (f *Flight[K, H]) fail(o Outcome, err error) {
	var none H
	f.table.mu.Lock()
	f.table.ended.Add(1) // before a reader sees the outcome, or leads another: before Fill the caller may have stored
	f.settleLocked(o, none, err)
	f.unlistLocked() // a request that comes after the leader was answered must not get this failure
	f.table.mu.Unlock()
	f.table.remove(f)
	f.body.end(err)
}

func (f *Flight[K, H]) settleLocked(o Outcome, h H, err error) {
	f.settled, f.outcome, f.header, f.err = true, o, h, err
	f.round.flightSettledLocked(f)
}

// endIfUnwantedLocked stops the fetch if nobody reads the body and it will not be stored.
func (f *Flight[K, H]) endIfUnwantedLocked() {
	if f.activeSeats > 0 || f.runsToEnd || f.admitted && f.whole && !f.purged && !f.superseded {
		return
	}
	if !f.stopped && !f.settled {
		f.stopped = true
		f.round.live--
	}
	f.unlistLocked()
	f.life.end()
}

// unlistLocked makes the round of f take no more readers, if they would read f.
func (f *Flight[K, H]) unlistLocked() {
	if f.round.winner == f || f.round.winner == nil && f.round.live == 0 {
		f.table.unlistLocked(f.round)
	}
}

// Size returns how many bytes of the body have been written.
func (f *Flight[K, H]) Size() int64 { return f.body.length() }
