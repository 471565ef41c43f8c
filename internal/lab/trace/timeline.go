package trace

import (
	"errors"
	"time"
)

const (
	// maxBackward is how far times may go back, within a log and from one log to the
	// next: requests that end late are written late.
	maxBackward = int64(time.Hour / time.Microsecond)
	// maxForward is how far a time may be ahead of the one before without confirmation.
	maxForward = int64(30 * 24 * time.Hour / time.Microsecond)
	// confirmations is how many times in a row have to agree on a leap beyond either
	// bound. It is more than the clients with long requests that a server disconnects at
	// once, and less than the lines of any log worth a simulation.
	confirmations = 20
)

// ErrOrder is the error of logs whose times go back.
var ErrOrder = errors.New("its times go back by over an hour: give the logs oldest first, " +
	"as in `zcat $(ls -tr access.log.*.gz)`, and one server's at a time")

// timeline decides which times of the logs are accepted. A time that leaps far from the
// last one is not, unless others confirm it: otherwise a single line of another century
// would set the time of all that follow. Times are Unix microseconds.
type timeline struct {
	start, now int64 // the first and the last accepted time
	timed      int64 // requests whose time was accepted
	odd        int64 // requests whose time was rejected
	inOrder    bool  // the current file had a time that follows the last one
	notFirst   bool  // the current file is not the first

	from, to int64 // range of the current leap: times in a row far from now
	leaps    int64 // how many times it has; they are not in timed or odd yet
}

// open begins the next file.
func (t *timeline) open() {
	t.notFirst = t.notFirst || t.timed > 0
	t.inOrder = false
}

// advance moves the time on to at, never back.
func (t *timeline) advance(at int64) error {
	if t.timed == 0 {
		t.start, t.now = at, at
	}
	if at < t.now-maxBackward || at > t.now+maxForward {
		return t.leap(at)
	}
	t.rejectLeap()
	t.inOrder = true
	t.timed++
	t.now = max(t.now, at)
	return nil
}

// leap notes a time that is far from the last one.
func (t *timeline) leap(at int64) error {
	if t.leaps == 0 || at < t.from-maxBackward || at > t.to+maxForward {
		t.rejectLeap()
		t.from, t.to = at, at
	}
	t.to = max(t.to, at)
	t.leaps++
	if t.leaps < confirmations {
		return nil
	}
	return t.acceptLeap()
}

// acceptLeap accepts the times of the leap.
func (t *timeline) acceptLeap() error {
	switch {
	case t.from > t.now:
		t.timed += t.leaps
	case !t.notFirst && t.now == t.start && t.timed < confirmations:
		// The very first time was wrong. No other time follows it yet.
		t.odd += t.timed
		t.start, t.timed = t.from, t.leaps
	default:
		return ErrOrder
	}
	t.now, t.leaps, t.inOrder = t.to, 0, true
	return nil
}

// rejectLeap rejects the times of the leap.
func (t *timeline) rejectLeap() {
	t.odd += t.leaps
	t.leaps = 0
}

// close ends the file. If all times of a file leap, the file is from another day, however
// short it is: the leap is accepted.
func (t *timeline) close() error {
	if t.notFirst && !t.inOrder && t.leaps > 0 {
		return t.acceptLeap()
	}
	t.rejectLeap()
	return nil
}

// known reports whether nearly all of so many requests have a time.
func (t *timeline) known(requests int64) bool {
	return (t.timed+t.odd)*100 >= requests*99 && t.odd*100 <= requests
}
