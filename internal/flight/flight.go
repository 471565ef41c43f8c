package flight

import (
	"context"
)

// Outcome is how a flight's header phase ended for one of its readers.
type Outcome uint8

const (
	// Shared: the header is here and the body follows; read on.
	Shared Outcome = iota
	// Released: the response cannot be shared with followers; fetch alone.
	Released
	// Filled: somebody stored the response meanwhile; look it up again.
	Filled
	// Failed: there is no response; the error says why.
	Failed
	// TimedOut: no header within the wait, of none of those who were led for it.
	TimedOut
	// LeadAnew: no header yet; the follower leads a further flight from now on.
	LeadAnew
	// Left: the client has left before there was a header.
	Left
)

// Flight is the fetching side of one flight. Its methods belong to the one
// goroutine that fetches; readers use Reader.
type Flight[K comparable, H any] struct {
	table *Table[K, H]
	key   K
	url   K
	body  *body
	ctx   context.Context
	stop  context.CancelFunc

	first round[K, H] // its own, where it is the first one

	// guarded by table.mu; outcome, header and err stay as they are once it has settled
	settled  bool
	outcome  Outcome // for followers
	header   H
	err      error
	round    *round[K, H]
	elder    *Flight[K, H] // led before it, for the same round
	judging  bool          // see Judge
	hold     chan struct{} // not nil: Judge waits until it is closed
	forsaken bool          // its leader has gone over to another flight of the round
	surplus  bool          // another one has a header
	stopped  bool          // before it had an outcome
	interest int           // readers that have not left
	admitted bool          // to be stored if it can be
	lasting  bool          // goes on to its end though nobody reads; see Reader.Leave
	whole    bool          // the body is kept whole and may be stored
	purged   bool
	fetched  bool // Go has begun its fetch, or nobody will
}

// Context ends when nobody wants the flight any more, or the table closes. The
// fetch must end with it.
func (f *Flight[K, H]) Context() context.Context { return f.ctx }

// Judge is called when the header is here, before the leader's request is looked at any
// more, and reports whether it may be: a leader that was given the header of another
// flight meanwhile has gone, and this flight is to end.
func (f *Flight[K, H]) Judge() bool {
	f.table.mu.Lock()
	for f.hold != nil {
		held := f.hold
		f.table.mu.Unlock()
		<-held
		f.table.mu.Lock()
	}
	defer f.table.mu.Unlock()
	f.judging = !f.forsaken
	return f.judging
}

// Publish gives the header to the readers. storable says that the response may
// be stored, shareable that followers may have it too; where it is not, they are
// released and no more are taken.
func (f *Flight[K, H]) Publish(h H, storable, shareable bool) {
	if !storable {
		f.body.window() // before anybody reads
	}
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.whole = storable
	o := Shared
	if !storable || !shareable {
		o = Released
	}
	f.settleLocked(o, h, nil)
	if o == Released {
		f.unlistLocked()
	}
	f.endIfUnwantedLocked()
}

// Answer gives the readers a header that needs no body of the flight's, followers
// included, and ends the flight. Nothing of it is stored.
func (f *Flight[K, H]) Answer(h H) {
	f.table.mu.Lock()
	f.whole = false
	f.settleLocked(Shared, h, nil)
	f.table.mu.Unlock()
	f.table.remove(f)
	f.body.end(nil)
}

// Fill ends a flight that never fetched, because the response was stored
// between look-up and lead.
func (f *Flight[K, H]) Fill() { f.fail(Filled, nil) }

// Space returns room for the next bytes of the body: read into it, then Commit.
// left is how many bytes are to come, -1 if unknown. Where the body is no longer
// kept whole it waits for the slowest reader.
func (f *Flight[K, H]) Space(left int64) []byte {
	if room := f.body.keep(left); room != nil {
		return room
	}
	f.table.mu.Lock()
	if f.whole {
		f.whole = false
		f.unlistLocked()
		f.endIfUnwantedLocked()
	}
	// Only now may the beginning go: whoever joined before has a place in the body
	// that keeps it, and nobody joins any more.
	f.body.window()
	f.table.mu.Unlock()
	return f.body.pace()
}

// Commit adds n bytes, written into the room that Space gave, to the body. last
// says that they complete it: readers get them with Finish.
func (f *Flight[K, H]) Commit(n int, last bool) { f.body.commit(n, last) }

// Kept is what a flight has of its body at the end.
type Kept uint8

const (
	// KeptForStore: the body is whole and admitted.
	KeptForStore Kept = iota
	// HeldBack: the body is whole, and nobody admitted it.
	HeldBack
	// Outgrown: it was not kept whole, for the limit of one body or the budget of
	// all was reached, or the response may not be stored.
	Outgrown
	// PurgedMeanwhile: the URL was purged since the flight began.
	PurgedMeanwhile
)

// Whole is called when the body is complete, before Finish, and says what there
// is to store. For KeptForStore it returns the body in one piece. Else the flight
// takes no more followers from this moment, so none can count on a store that
// does not come; the body is nil, but for HeldBack where held says that the
// caller has a use for it all the same.
func (f *Flight[K, H]) Whole(held bool) (body []byte, k Kept) {
	f.table.mu.Lock()
	switch {
	case f.purged:
		k = PurgedMeanwhile
	case !f.whole || f.body.length() > f.table.limit:
		k = Outgrown
	case !f.admitted:
		k = HeldBack
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

// fail ends a flight that has no header.
func (f *Flight[K, H]) fail(o Outcome, err error) {
	var none H
	f.table.mu.Lock()
	f.settleLocked(o, none, err)
	f.table.mu.Unlock()
	f.table.remove(f)
	f.body.end(err)
}

func (f *Flight[K, H]) settleLocked(o Outcome, h H, err error) {
	f.settled, f.outcome, f.header, f.err = true, o, h, err
	f.round.settledLocked(f)
}

// endIfUnwantedLocked stops the fetch when nobody reads and nobody will store.
func (f *Flight[K, H]) endIfUnwantedLocked() {
	if f.interest > 0 || f.lasting || f.admitted && f.whole && !f.purged && !f.surplus {
		return
	}
	if !f.stopped && !f.settled {
		f.stopped = true
		f.round.live--
	}
	f.unlistLocked()
	f.stop()
}

// unlistLocked makes the round of f take no more readers, if those that it took would
// count on f.
func (f *Flight[K, H]) unlistLocked() {
	if f.round.winner == f || f.round.winner == nil && f.round.live == 0 {
		f.table.unlistLocked(f.round)
	}
}

// Size returns how many bytes of the body have been written.
func (f *Flight[K, H]) Size() int64 { return f.body.length() }
