// Package rate bounds how often each client may ask.
//
// It answers one question: may this client ask once more now, and if not, when? Each
// client has a bucket of tokens for each limit, which fills at the limit's pace up to its
// burst; a request takes one. The bucket is kept as one time, that at which it is full
// again (the generic cell rate algorithm, ITU-T I.371), so it needs no refilling, and one
// that is full need not be kept at all.
//
// Table has a fixed number of buckets for all clients and limits. A client without a bucket
// takes the place of a full one, which loses nothing. Where none of its possible places has a
// full bucket, it takes the place of the one that will be full soonest. So a flood of addresses
// makes the table forget some clients, and never refuse one that has asked for little. The
// clients that ask most are forgotten last.
package rate

import "time"

// Limit is how often one client may ask. The zero Limit is none.
type Limit struct {
	Requests int           // in each Per; 0 is no limit
	Per      time.Duration // 0 is no limit
	Burst    int           // at once; below 1 is as many as Requests
}

// Bounds reports whether l is a limit at all.
func (l Limit) Bounds() bool { return l.Requests > 0 && l.Per > 0 }

// interval is the time between two requests, on and on. l is a limit.
func (l Limit) interval() time.Duration { return max(l.Per/time.Duration(l.Requests), 1) }

// ahead says how many requests a client may be ahead of the interval.
func (l Limit) ahead() time.Duration {
	if l.Burst < 1 {
		return time.Duration(l.Requests - 1)
	}
	return time.Duration(l.Burst - 1)
}

// take takes a token at now out of the bucket that is full at full. It returns when it is
// full then, or, where it is empty, how long until it has one.
func (l Limit) take(full, now int64) (next int64, wait time.Duration) {
	full = max(full, now)
	interval := l.interval()
	if wait = time.Duration(full-now) - interval*l.ahead(); wait > 0 {
		return full, wait
	}
	return full + int64(interval), 0
}
