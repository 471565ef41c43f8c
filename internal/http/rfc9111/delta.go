package rfc9111

import "time"

// maxSeconds is the largest delta-seconds value; larger ones count as it (RFC 9111
// section 1.2.2). The sum of four such spans still fits a time.Duration, so sums
// cannot overflow.
const maxSeconds = 1 << 31

const maxSpan = maxSeconds * time.Second

// clamp limits d to the range from 0 to 2^31 seconds.
func clamp(d time.Duration) time.Duration { return min(max(d, 0), maxSpan) }

// Delta is the delta-seconds argument of a directive (RFC 9111 section 1.2.2).
// The zero value says that the directive is absent.
type Delta struct {
	seconds        int64
	present, valid bool
}

// Present reports whether the directive was there, valid or not.
func (d Delta) Present() bool { return d.present }

// Valid reports whether the directive was there with a valid argument.
func (d Delta) Valid() bool { return d.valid }

// Duration returns the argument, 0 to 2^31 seconds. If it is absent or invalid,
// that is 0: a response with invalid freshness information counts as stale (RFC
// 9111 section 4.2.1).
func (d Delta) Duration() time.Duration { return time.Duration(d.seconds) * time.Second }

// deltaOf parses the argument of x. It is invalid if it is missing, or if x is not
// sure.
func deltaOf[T text](x *directive[T]) Delta {
	n, ok := decimal(x.arg, maxSeconds, x.quoted)
	if !ok || !x.sure {
		return Delta{present: true}
	}
	return Delta{seconds: n, present: true, valid: true}
}

// stricter returns the smaller of a, which may be absent, and b, which is present.
// RFC 9111 section 4.2.1 lets a cache take the first of several values or consider
// the response stale. The smallest, with 0 for an invalid one, is never laxer than
// the first.
func stricter(a, b Delta) Delta {
	if a.present && a.seconds <= b.seconds {
		return a
	}
	return b
}
