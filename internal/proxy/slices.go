package proxy

import (
	"errors"
	"net/netip"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/presence"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/proxy/internal/sliced"
)

// slicing is one answer that is made of the slices of a representation. Slices that are stored
// come from the store; the others come by flights, which other answers may share. It reads one
// slice after the other, as its client takes them. It outlives Finish and belongs to the
// goroutine that writes the answer.
type slicing struct {
	p       *Proxy
	waiting *presence.Client
	client  netip.Prefix // the client that counts for it
	job     *job         // the job of every fetch, but for what it asks for
	way     sliced.Reader[*slice]
	vary    []string // what the slices seen so far vary on

	divided // one of the slices has said it of the whole

	seat      *reader   // the reader of the slice that is being got; only abandon looks at it
	admitted  bool      // a slice was fetched and stored, or is about to be
	fetched   bool      // one was fetched
	storable  bool      // one that was fetched may be stored
	confirmed bool      // all of the answer is stored, and was stale
	held      result    // the result of the slices that came from the store: hit, stale or revalidated
	lostKey   cache.Key // the key of the last stored slice that could not be read
}

// sliceable reports whether the answer to x is to be fetched in slices. A conditional request
// that nobody admits is not: its answer may be a 304, which only the origin can give.
func (x *exchange) sliceable() bool {
	a := &x.asks
	if x.route.SliceBytes == 0 || !a.get || a.authorization || a.precondition || x.stale != nil {
		return false
	}
	if a.conditional && !x.verdict.Admit {
		return false
	}
	first, single := x.firstAsked()
	return single && first < 1<<62
}

// severalOfSliced reports whether x asks for several ranges of what is kept in slices. The
// origin answers these, for slices are there to save fetching all of it.
func (x *exchange) severalOfSliced() bool {
	if x.route.SliceBytes == 0 || x.stale != nil {
		return false
	}
	_, single := x.firstAsked()
	return !single
}

// slices answers x in slices and reports whether it did. If not, x is answered in another way.
func (p *Proxy) slices(x *exchange) (done bool) {
	t := p.interimSender(x)
	done, err := p.beginSlices(x, t)
	if errors.Is(err, sliced.ErrChanged) { // the slice that told the size is forgotten by now
		x.undoAnswer()
		done, err = p.beginSlices(x, t)
	}
	if err == nil {
		return done
	}
	x.undoAnswer()
	if errors.Is(err, sliced.ErrChanged) { // faster than it can be had in slices
		p.fetchAlone(x, false)
	} else {
		p.fail(x, err)
	}
	return true
}

// undoAnswer takes back what answerFrom has made of x.
func (x *exchange) undoAnswer() {
	x.from, x.onResult, x.collapsed, x.fwdStatus, x.answered = nil, false, false, 0, nil
}

// beginSlices is slices, up to the point where the answer's header can be sent.
func (p *Proxy) beginSlices(x *exchange, t sendInterim) (done bool, err error) {
	s := p.newSlicing(x)
	x.sliced = s
	sl, err := s.firstFor(x, t)
	x.sighting = s.job.sighting
	switch {
	case err != nil:
		return false, err
	case sl.refusedBy(x):
		sl.Close()
		x.codingRefused = true
		p.fetchAlone(x, false)
		return true, nil
	case sl.entry == nil && sl.head.status != statusPartialContent && !sl.beyond(x):
		// Not a part: the whole, which may be small, or no such thing.
		x.from, x.collapsed, x.onResult = fromFlight{sl.reader}, sl.joined, true
		return true, nil
	case sl.entry != nil && sl.head == nil && p.assemble(x): // stored between our look-up and now
		p.promoteParts(x, x.assembly())
		return true, nil
	case !s.start(sl):
		sl.Close()
		x.onResult = false
		return false, nil
	}
	s.answer(x, sl)
	return true, s.reach(x)
}

// reach opens the slice that the answer of x begins with, where that is not the one that
// told the size.
func (s *slicing) reach(x *exchange) error {
	told := s.current()
	if err := s.way.Open(); err != nil {
		return err
	}
	if sl := s.current(); sl != told {
		x.collapsed = sl.joined
	}
	return nil
}

// firstFor returns the slice with the first byte that x asks for, as far as that is known.
// Where there is no such place and the answer may be another than that, the slice that
// every representation has but an empty one.
func (s *slicing) firstFor(x *exchange, t sendInterim) (*slice, error) {
	first, _ := x.firstAsked()
	sl, err := s.get(first/s.way.Size(), t)
	if err != nil || sl.number == 0 || !sl.beyond(x) {
		return sl, err
	}
	sl.Close()
	return s.get(0, nil)
}

// start makes sl the first slice, by which others are measured; false if it is none.
func (s *slicing) start(sl *slice) bool {
	if sl.entry == nil && !sl.head.part || !s.way.Begin(sl, sl.number) {
		return false
	}
	s.rep, s.whole = s.way.Whole()
	return true
}

// answer makes s the answer of x, of which sl told the size.
func (s *slicing) answer(x *exchange, sl *slice) {
	x.from, x.onResult = s, true
	s.choose(x)
	c := s.cut
	if c.headOnly() {
		s.way.Select(c.first, 0)
	} else {
		s.way.Select(c.first, c.length)
	}
	x.collapsed = sl.joined
	switch {
	case sl.entry == nil:
		x.fwdStatus = sl.head.partStatus(c)
	case sl.head == nil:
		x.fwd = fwdPartial
	default: // it was stale
		x.fwd = fwdStale
		x.fwdStatus = sl.head.status
		if s.way.OneIsEnough() {
			x.answerFrom(sl.head, !sl.joined)
			x.from, s.confirmed = s, true
		}
	}
}

// partStatus is what the origin answered, where c answers something else.
func (h *outcome) partStatus(c selection) int {
	if c.status == h.status {
		return 0
	}
	return h.status
}

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
	default: // the slice that the answer begins with says it, whichever told the size
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
	return resultHeldBack
}
