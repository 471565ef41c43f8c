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
	// TimedOut: no flight of the round had a header within the wait.
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
	body  body
	life  lifetime

	// What most flights need, made with them: nearly all have one reader.

	first  round[K, H]  // its round, where it is the first one of it
	leader Reader[K, H] // who leads it then
	sits   cursor       // of the first seat that was taken

	// in the list of Table.all
	before, behind *Flight[K, H]

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
	secured  bool          // it was admitted, and memory reserved for it
	storable bool          // as the header says
	length   int64         // of the body, -1 if unknown; once it has a header
	over     bool          // its body has ended
	loose    bool          // it is in Table.loose, the list of flights that can make room
	older    *Flight[K, H] // in that list
	newer    *Flight[K, H]
	stopped  bool // before it had an outcome
	seats    int  // how many were ever taken
	interest int  // of them, those of readers that have not left
	admitted bool // to be stored if it can be
	lasting  bool // goes on to its end though nobody reads; see Reader.Leave
	whole    bool // the body is kept whole and may be stored
	purged   bool
	fetched  bool   // Go or Run has begun its fetch, or nobody will
	waits    nudger // for this the fetch waits in the goroutine of the leader

	// guarded as well; see Response.Recounted
	recounted bool
	undecided int           // followers that have yet to say whether they admit it
	early     int           // of them, those that had joined before the header
	decisions chan struct{} // not nil: closed when there is a decision
}

// Context ends when nobody wants the flight any more, or the table closes. The
// fetch must end with it.
func (f *Flight[K, H]) Context() context.Context { return &f.life }

// Judge is called when the header is here, before the leader's request is looked at any
// more, and reports whether it may be: a leader that was given the header of another
// flight meanwhile has gone, and this flight is to end. It does what Waited does, too.
func (f *Flight[K, H]) Judge() bool {
	f.table.mu.Lock()
	f.waits = nil
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

// Response is what the header says of a response.
type Response struct {
	Storable  bool  // it may be stored
	Shareable bool  // followers may have it, too
	Resumable bool  // a reader that has a part of it can get the rest by another request
	Length    int64 // of the body, -1 if unknown

	// Recounted says that the readers joined before it was known which of several
	// responses this is, so that joining has not admitted it. Admits is what the leader
	// says of it; each follower that it suits says so by Reader.Admit.
	Recounted, Admits bool
}

// Publish gives the header to the readers. Where the response may be neither stored nor
// shared, followers are released and the flight takes no more.
//
// For a response that is to be stored memory is reserved: all of it where the length is
// known, else a first piece. Where there is no memory the response is not stored. Followers
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
		f.table.loosenLocked(f)
	}
	f.settleLocked(o, h, nil)
	f.askWaitingLocked()
	if o == Released || short {
		f.unlistLocked()
	}
	f.endIfUnwantedLocked()
}

// secureLocked reserves memory for a response that is to be stored, and reports whether
// there was some.
func (f *Flight[K, H]) secureLocked() bool {
	left := f.length
	if left >= 0 {
		left = max(0, left-f.body.length())
	}
	for {
		lacks := f.body.secure(left)
		if lacks == 0 {
			f.secured = true
			f.table.firmLocked(f)
			return true
		}
		if !f.table.reclaimLocked(f, lacks) {
			return false
		}
	}
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
// left is how many bytes are to come, -1 if unknown. It waits for the fastest reader, but
// for one that has ended or is to be stored.
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
			f.cease()
		case needWindow:
			f.cease()
		case needSpool:
			f.body.spillOldest()
		}
	}
}

// makeRoom has other flights give back the memory that is lacking, and reports whether they
// did.
func (f *Flight[K, H]) makeRoom(lacks int64) bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	return f.table.reclaimLocked(f, lacks)
}

// cease ends keeping the body whole.
func (f *Flight[K, H]) cease() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.ceaseLocked(false)
	f.table.loosenLocked(f)
}

// ceaseLocked does so; where it yields, memory goes to others.
func (f *Flight[K, H]) ceaseLocked(yields bool) {
	if f.whole {
		f.whole = false
		f.unlistLocked()
		f.endIfUnwantedLocked()
	}
	// Only now may the beginning go: the readers that joined before have a place in the
	// body that keeps it, and none joins any more.
	f.body.window(yields)
}

// Commit adds n bytes, written into the room that Space gave, to the body. last
// says that they complete it: readers get them with Finish.
func (f *Flight[K, H]) Commit(n int, last bool) { f.body.commit(n, last) }

// Kept is what a flight has of its body at the end.
type Kept uint8

const (
	// KeptForStore: the body is whole and admitted.
	KeptForStore Kept = iota
	// HeldBack: the body is whole, and nobody admitted it. It may not have been kept.
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
// caller has a use for it all the same, and it was kept.
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
			f.table.firmLocked(f) // until its end others take nothing of it
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

// Stored is called between Whole and Finish when the body that Whole has returned is in the
// store, which owns its memory from then on.
func (f *Flight[K, H]) Stored(body []byte) {
	f.table.ended.Add(1)
	f.body.stored(body)
}

// fail ends a flight that has no header.
func (f *Flight[K, H]) fail(o Outcome, err error) {
	var none H
	f.table.mu.Lock()
	f.table.ended.Add(1) // before anybody hears of it, or leads another: Fill may follow what the caller has stored
	f.settleLocked(o, none, err)
	f.unlistLocked() // a request that comes after the leader was answered must not get this failure
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
	f.life.end()
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
