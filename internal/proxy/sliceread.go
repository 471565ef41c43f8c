package proxy

import (
	"errors"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/pinned"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/sliced"
)

var _ sliced.Source[*slice] = (*slicing)(nil)

// Read gives the next bytes of the answer.
func (s *slicing) Read(b []byte) (int, error) { return s.way.Read(b) }

// current returns the slice that is being read; nil before the first byte of one and between two.
func (s *slicing) current() *slice {
	sl, _ := s.way.Slice()
	return sl
}

// Find implements sliced.Source.
func (s *slicing) Find(number int64) (*slice, bool) {
	sp := s.p.newSpan(s.job.exact.name, s.way.Size(), number)
	find := func(names []string) (e *cache.Object) {
		name := s.job.variant(sp.name, names)
		return s.p.findIgnoringPurges(s.p.Hasher.Sum(name), name)
	}
	e := find(s.vary)
	lists := s.p.Store.Vary(sp.key, sp.name)
	for i := 0; e == nil && i < lists.Len(); i++ {
		e = find(lists.At(i))
	}
	if e == nil {
		e = find(nil)
	}
	return &slice{number: number, entry: e}, e != nil
}

// Get implements sliced.Source.
func (s *slicing) Get(number int64) (*slice, error) { return s.get(number, nil) }

// Discard implements sliced.Source.
func (s *slicing) Discard(sl *slice) { s.p.Store.Discard(sl.entry) }

// Resume implements sliced.Source.
func (s *slicing) Resume(sl *slice, err error, rest rfc9111.Range) sliced.Again {
	switch {
	case errors.Is(err, flight.ErrBehind) && s.readsOn(sl, rest):
		return sliced.Resumed
	case sl.entry != nil && s.loses(sl, err):
		return sliced.Anew
	}
	return sliced.Ends
}

// loses forgets the stored slice that is being read and gets it again, once. It reports whether
// it did.
func (s *slicing) loses(sl *slice, err error) bool {
	if s.lostKey == sl.entry.Key() {
		return false
	}
	s.lostKey = sl.entry.Key()
	s.p.removeUnreadable(err, sl.entry)
	return true
}

// readsOn finds the rest of a slice whose flight has left this reader behind, in the store or
// at the origin, and reports whether it did.
func (s *slicing) readsOn(sl *slice, rest rfc9111.Range) bool {
	_ = sl.reader.Close()
	sl.reader = nil // the flight goes on for others
	counts := &s.job.route.metrics.behind
	if held, ok := s.Find(sl.number); ok && s.way.Belongs(held, sl.number) {
		sl.entry = held.entry
		counts[behindStored].Add(1)
		return true
	}
	if tagged(s.rep) {
		r := *s.job.request
		s.job.trace.again(&r) // one question has one trace
		if body := askRemainder(s.waiting, s.job.route, &r, s.rep, rest.First, rest.Last, s.whole); body != nil {
			sl.rest = body
			counts[behindOrigin].Add(1)
			return true
		}
	}
	counts[behindCut].Add(1)
	return false
}

// pin is that of the slice that is being read; nil is none.
func (s *slicing) pin() *pinned.Body {
	switch sl := s.current(); {
	case sl == nil:
		return nil
	case sl.entry != nil:
		return sl.entry.Pin()
	case sl.head != nil && sl.head.entry != nil:
		return sl.head.entry.Pin
	}
	return nil
}

// Close ends the answer. Fetches that others share, or that are to be stored, go on.
func (s *slicing) Close() error {
	s.way.Close()
	return nil
}

// abandon is Close after a panic. The panic may have left a flight that nobody ends.
func (s *slicing) abandon() {
	if s.seat != nil {
		s.seat.Abandon()
	}
	_ = s.Close()
}
