package proxy

import (
	"errors"
	"net/netip"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/presence"
)

// errChanged ends an answer in the midst of which the representation has become
// another one.
var errChanged = errors.New("the representation has changed between two slices")

// slicing is the way of one answer through the slices of a representation: what is
// stored of them is read from the store, the others come by flights that other answers
// may share. It reads one slice after the other, as its client takes them. It outlives
// Finish and belongs to the goroutine that writes the answer.
type slicing struct {
	p      *Proxy
	guest  *presence.Client
	client netip.Prefix // that counts for it
	job    *job         // of every fetch, but for what it asks for
	size   int64        // of a slice
	vary   []string     // what the slices seen so far vary on

	divided       // by what one of the slices says of the whole
	first   int64 // the number of that one

	seat      *reader   // of the slice that is being got; only abandon looks at it
	slice     *slice    // being read; nil before the first byte and between two
	at, end   int64     // the next byte to send, and where the answer ends
	admitted  bool      // a slice was fetched and stored, or is about to be
	fetched   bool      // one was fetched
	storable  bool      // one that was fetched may be stored
	confirmed bool      // all of the answer is stored, and was stale
	held      result    // of the slices that came from the store: hit, stale or revalidated
	lost      cache.Key // of the last stored slice that could not be read
}

// sliceable reports whether the answer to x is to be fetched in slices. One that nobody
// admits may be a 304 to a condition, which only the origin can give.
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

// severalOfSliced reports whether x asks for several ranges of what is kept in slices,
// which are for the origin: to fetch all of it would be what slices are there to save.
func (x *exchange) severalOfSliced() bool {
	if x.route.SliceBytes == 0 || x.stale != nil {
		return false
	}
	_, single := x.firstAsked()
	return !single
}

// slices answers x in slices, and reports whether it did: what cannot be had in slices
// is left to others.
func (p *Proxy) slices(x *exchange) (done bool) {
	t := p.interimSender(x)
	done, err := p.beginSlices(x, t)
	if errors.Is(err, errChanged) { // the slice that told the size is forgotten by now
		x.unanswer()
		done, err = p.beginSlices(x, t)
	}
	if err == nil {
		return done
	}
	x.unanswer()
	if errors.Is(err, errChanged) { // faster than it can be had in slices
		p.alone(x, false)
	} else {
		p.fail(x, err)
	}
	return true
}

// unanswer takes back what answerFrom has made of x.
func (x *exchange) unanswer() {
	x.from, x.onResult, x.collapsed, x.fwdStatus = nil, false, false, 0
}

// beginSlices is slices up to where the answer's header can be sent.
func (p *Proxy) beginSlices(x *exchange, t sendInterim) (done bool, err error) {
	s := p.newSlicing(x)
	x.sliced = s
	sl, err := s.firstFor(x, t)
	x.sighting = s.job.sighting
	switch {
	case err != nil:
		return false, err
	case sl.entry == nil && sl.head.status != statusPartialContent && !sl.beyond(x):
		// Not a part: the whole, which may be small, or no such thing.
		x.from, x.collapsed, x.onResult = readAlong{sl.reader}, sl.joined, true
		return true, nil
	case sl.entry != nil && sl.head == nil && p.assemble(x): // stored between our look-up and now
		p.promoteParts(x, x.assembly())
		return true, nil
	case !s.start(sl):
		sl.close()
		x.onResult = false
		return false, nil
	}
	s.take(x, sl)
	return true, s.reach(x)
}

// reach opens the slice that the answer of x begins with, where that is not the one that
// told the size.
func (s *slicing) reach(x *exchange) error {
	if s.at == s.end || s.at/s.size == s.slice.number {
		return nil
	}
	if err := s.open(s.at / s.size); err != nil {
		return err
	}
	x.collapsed = s.slice.joined
	return nil
}

// firstFor returns the slice with the first byte that x asks for, as far as that is known.
// Where there is no such place and the answer may be another than that, the slice that
// every representation has but an empty one.
func (s *slicing) firstFor(x *exchange, t sendInterim) (*slice, error) {
	first, _ := x.firstAsked()
	sl, err := s.get(first/s.size, t)
	if err != nil || sl.number == 0 || !sl.beyond(x) {
		return sl, err
	}
	sl.close()
	return s.get(0, nil)
}

// start makes sl the first slice, by which others are measured; false if it is none.
func (s *slicing) start(sl *slice) bool {
	part, ok := sl.part()
	if !ok || sl.entry == nil && !sl.head.part {
		return false
	}
	s.whole, s.rep, s.first = part.Size, sl.rep(), sl.number
	s.slice = sl
	return true
}

// take makes s the answer of x, of which sl told the size.
func (s *slicing) take(x *exchange, sl *slice) {
	x.from, x.onResult = s, true
	s.choose(x)
	c := s.cut
	s.at, s.end = c.first, c.first+c.length
	if c.bodyless() {
		s.end = s.at
	}
	sl.skip = s.at % s.size // if it is the one to begin with
	x.collapsed = sl.joined
	switch {
	case sl.entry == nil:
		x.fwdStatus = sl.head.partStatus(c)
	case sl.head == nil:
		x.fwd = fwdPartial
	default: // it was stale
		x.fwd = fwdStale
		x.fwdStatus = sl.head.status
		if s.ends() {
			x.answerFrom(sl.head, !sl.joined)
			x.from, s.confirmed = s, true
		}
	}
}

// partStatus is what the origin answered, where c answers something else.
func (h *outcome) partStatus(c cut) int {
	if c.status == h.status {
		return 0
	}
	return h.status
}

// ends reports whether the answer has no need of another slice than the one that it
// begins with.
func (s *slicing) ends() bool {
	return s.end == s.at || s.at/s.size == s.slice.number && (s.end-1)/s.size == s.slice.number
}
