package rfc9111

import "time"

// maxSeconds is what every larger number of seconds counts as (RFC 9111 section
// 1.2.2). Four such spans still fit a time.Duration, so sums cannot overflow.
const maxSeconds = 1 << 31

const maxSpan = maxSeconds * time.Second

// clamp limits d to what a span of time may be here: zero to 2^31 seconds.
func clamp(d time.Duration) time.Duration { return min(max(d, 0), maxSpan) }

// Delta is the delta-seconds argument of a directive (RFC 9111 section 1.2.2).
// The zero value says that the directive is absent.
type Delta struct {
	seconds        int64
	present, valid bool
}

// Present reports whether the directive was there, readable or not.
func (d Delta) Present() bool { return d.present }

// Valid reports whether the directive was there with a readable argument.
func (d Delta) Valid() bool { return d.valid }

// Duration returns the argument, 0 to 2^31 seconds. An absent or unreadable one
// is 0: a response with invalid freshness information counts as stale (RFC 9111
// section 4.2.1).
func (d Delta) Duration() time.Duration { return time.Duration(d.seconds) * time.Second }

// deltaOf reads the argument of x. A missing one, and one of a member that
// nobody can be sure of, is invalid.
func deltaOf[T text](x *directive[T]) Delta {
	n, ok := decimal(x.arg, maxSeconds, x.quoted)
	if !ok || !x.sure {
		return Delta{present: true}
	}
	return Delta{seconds: n, present: true, valid: true}
}

// stricter returns the one that gives the shorter life of a, which may be absent,
// and b, which is there. RFC 9111 section
// 4.2.1 lets a cache take the first of several values or call the response
// stale; the smallest, with an unreadable one as 0, is never laxer than the
// first.
func stricter(a, b Delta) Delta {
	if a.present && a.seconds <= b.seconds {
		return a
	}
	return b
}
