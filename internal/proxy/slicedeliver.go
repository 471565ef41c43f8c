package proxy

import (
	"edgeproxy/internal/http/reason"
)

// heading implements source, with the head of the first slice.
func (s *slicing) heading(x *exchange) heading {
	s.describe(x)
	return heading{clientHead: s.current().given(), status: statusOK, size: s.whole, at: now(), evaluation: onParts, parts: &s.divided}
}

func (s *slicing) send(x *exchange, c selection) {
	b := s.p.stream(x, c)
	b.src, b.closer, b.slices, b.skip, b.part = s, s, s, 0, true
}

func (s *slicing) leave(*exchange) { s.way.Leave() }

// describe settles what the answer says of itself in Cache-Status, as far as that is
// known before the rest of the slices.
func (s *slicing) describe(x *exchange) {
	sl := s.current()
	if sl.reader == nil && s.way.OneIsEnough() {
		return // the origin has sent nothing that could be stored
	}
	switch {
	case sl.reader == nil: // each of the others reserves its memory when it comes
		x.stored = x.verdict.Admit
	case !sl.head.storable():
		x.reason = sl.head.why
		return
	default: // of the slice that the answer begins with, whichever told the size
		x.stored = sl.reader.Secured()
	}
	switch {
	case x.stored:
	case x.verdict.Admit:
		x.reason = reason.InflightLimit
	default:
		x.reason = x.verdict.Reason
	}
}

// result is the result of the request, by the kinds of slices that the answer was made of.
func (s *slicing) result() result {
	switch {
	case !s.fetched:
		return s.held
	case !s.storable:
		return resultPass
	case s.admitted, s.job.verdict.Admit:
		return resultMiss
	}
	return resultScarce
}
