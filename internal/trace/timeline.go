package trace

import (
	"errors"
	"time"
)

const (
	// mostEarlier is how far times may go back, within a log and from one log to
	// the next: what ends late is written late.
	mostEarlier = int64(time.Hour / time.Microsecond)
	// mostLater is how far a time may lie ahead of the one before and be believed
	// at once.
	mostLater = int64(30 * 24 * time.Hour / time.Microsecond)
	// confirmed is how many times in a row have to agree on a leap beyond either
	// bound: more than the clients that a server lets go of at a time, whose
	// requests began long before, and less than any log worth a simulation.
	confirmed = 20
)

var errOrder = errors.New("its times go back by over an hour: give the logs oldest first, " +
	"as in `zcat $(ls -tr access.log.*.gz)`, and one server's at a time")

// timeline decides which times of the logs are believed. One that leaps far from
// the last is not, unless others confirm it: a single line of another century
// would otherwise be the present for all that follow. Times are Unix microseconds.
type timeline struct {
	start, now int64 // the first and the last that were believed
	timed      int64 // requests whose time was
	odd        int64 // requests whose time was not
	entered    bool  // the present file had a time that follows the last one
	later      bool  // the present file is not the first

	from, to int64 // of the times in a row that leap
	leaps    int64 // how many they are; they count in neither sum yet
}

// open begins the next file.
func (t *timeline) open() {
	t.later = t.later || t.timed > 0
	t.entered = false
}

// tick moves the time on to at, never back.
func (t *timeline) tick(at int64) error {
	if t.timed == 0 {
		t.start, t.now = at, at
	}
	if at < t.now-mostEarlier || at > t.now+mostLater {
		return t.leap(at)
	}
	t.drop()
	t.entered = true
	t.timed++
	t.now = max(t.now, at)
	return nil
}

// leap notes a time that is far from the last one.
func (t *timeline) leap(at int64) error {
	if t.leaps == 0 || at < t.from-mostEarlier || at > t.to+mostLater {
		t.drop()
		t.from, t.to = at, at
	}
	t.to = max(t.to, at)
	t.leaps++
	if t.leaps < confirmed {
		return nil
	}
	return t.believe()
}

// believe takes the times that leap for true.
func (t *timeline) believe() error {
	switch {
	case t.from > t.now:
		t.timed += t.leaps
	case !t.later && t.now == t.start && t.timed < confirmed:
		// It is the first time of all that was wrong. No other follows it yet.
		t.odd += t.timed
		t.start, t.timed = t.from, t.leaps
	default:
		return errOrder
	}
	t.now, t.leaps, t.entered = t.to, 0, true
	return nil
}

// drop gives up the times that leap.
func (t *timeline) drop() {
	t.odd += t.leaps
	t.leaps = 0
}

// close ends the file. A file all of whose times leap is from another day, as
// short as it may be.
func (t *timeline) close() error {
	if t.later && !t.entered && t.leaps > 0 {
		return t.believe()
	}
	t.drop()
	return nil
}

// known reports whether nearly all of so many requests have a time.
func (t *timeline) known(requests int64) bool {
	return (t.timed+t.odd)*100 >= requests*99 && t.odd*100 <= requests
}
