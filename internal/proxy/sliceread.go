package proxy

import (
	"errors"
	"io"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/pinned"
	"edgeproxy/internal/rfc9111"
)

// Read gives the next bytes of the answer.
func (s *slicing) Read(b []byte) (int, error) {
	for s.at < s.end {
		if err := s.turnTo(s.at / s.size); err != nil {
			return 0, err
		}
		n, err := s.slice.read(b, s.at%s.size, min(s.end-s.at, s.size-s.at%s.size))
		s.at += int64(n)
		switch {
		case err != nil && s.goesOn(err):
		case n > 0 && (s.at%s.size == 0 || s.at == s.end):
			s.done()
			return n, nil
		case errors.Is(err, io.EOF):
			return n, io.ErrUnexpectedEOF
		case n > 0 || err != nil:
			return n, err
		}
	}
	return 0, io.EOF
}

// goesOn reports whether the slice that is being read, whose reading has ended by err, has
// another source now.
func (s *slicing) goesOn(err error) bool {
	return errors.Is(err, flight.ErrBehind) && s.resume() || s.slice.entry != nil && s.loses(err)
}

// loses forgets the stored slice that is being read and has it got again, once. It reports
// whether it did.
func (s *slicing) loses(err error) bool {
	if s.lost == s.slice.entry.Key {
		return false
	}
	s.lost = s.slice.entry.Key
	s.p.lose(err, s.slice.entry)
	s.done()
	return true
}

// resume finds the rest of a slice whose flight has left this reader behind, in the store or
// at the origin, and reports whether it did; see along.
func (s *slicing) resume() bool {
	sl := s.slice
	_ = sl.reader.Close()
	sl.reader, sl.skip = nil, 0 // what goes on there goes on for others
	counts := &s.job.route.metrics.behind
	if e := s.find(sl.number); e != nil && s.belongs(&slice{number: sl.number, entry: e}) {
		sl.entry = e
		counts[behindStored].Add(1)
		return true
	}
	if tagged(s.rep) {
		last := min((sl.number+1)*s.size, s.whole) - 1
		r := *s.job.request
		if body := askRest(s.guest, s.job.route, &r, s.rep, s.at, last, s.whole); body != nil {
			sl.rest = body
			counts[behindOrigin].Add(1)
			return true
		}
	}
	counts[behindCut].Add(1)
	return false
}

// turnTo opens the slice of this number unless it is the one that is read.
func (s *slicing) turnTo(number int64) error {
	if s.slice != nil && s.slice.number == number {
		return nil
	}
	return s.open(number)
}

// open makes the slice of this number the one that is read.
func (s *slicing) open(number int64) error {
	s.done()
	sl, err := s.get(number, nil)
	if err != nil {
		return err
	}
	if !s.belongs(sl) {
		sl.close()
		if sl, err = s.another(sl); err != nil {
			return err
		}
	}
	sl.skip = s.at % s.size
	s.slice = sl
	return nil
}

// belongs reports whether sl is the slice of its number of the representation that the
// answer has begun with.
func (s *slicing) belongs(sl *slice) bool {
	part, ok := sl.part()
	want := span{slice: true, Range: rfc9111.Range{First: sl.number * s.size, Last: (sl.number+1)*s.size - 1}}
	return ok && part.Size == s.whole && want.matches(part) && rfc9111.SameStrongly(s.rep, sl.rep())
}

// another is called with a slice that does not belong. The newer response says what the
// representation is now: an older slice is forgotten, and fetched again if it is this
// one. If it is what the answer began with, the answer cannot go on.
func (s *slicing) another(sl *slice) (*slice, error) {
	first := s.find(s.first)
	if sl.entry == nil || first != nil && first.ResponseTime.Before(sl.entry.ResponseTime) {
		if first != nil && sl.tells() && rfc9111.SameStrongly(wholeOf(first), s.rep) {
			s.p.Store.Discard(first)
		}
		return nil, errChanged
	}
	s.p.Store.Discard(sl.entry)
	again, err := s.get(sl.number, nil)
	if err != nil {
		return nil, err
	}
	if !s.belongs(again) {
		again.close()
		return nil, errChanged
	}
	return again, nil
}

// find returns what is stored of the slice of this number, nil if nothing.
func (s *slicing) find(number int64) *cache.Entry {
	name, key := s.variant(s.p.newSpan(s.job.exact.name, s.size, number))
	e, _ := s.p.Store.Find(key, name)
	return e
}

// pin is that of the slice that is being read; nil is none.
func (s *slicing) pin() *pinned.Body {
	switch {
	case s.slice == nil:
		return nil
	case s.slice.entry != nil:
		return s.slice.entry.Pin
	case s.slice.head != nil && s.slice.head.entry != nil:
		return s.slice.head.entry.Pin
	}
	return nil
}

// done ends the reading of a slice of which nothing more is wanted here. The rest of it
// comes all the same: it was asked for, and is booked, and may be staged.
func (s *slicing) done() {
	if s.slice != nil && s.slice.reader != nil {
		s.slice.reader.Leave()
	}
	if s.slice != nil && s.slice.rest != nil {
		_ = s.slice.rest.Close()
	}
	s.slice = nil
}

// Close ends the answer. What is fetched for others as well, or to be stored, goes on.
func (s *slicing) Close() error {
	if s.slice != nil {
		s.slice.close()
		s.slice = nil
	}
	return nil
}

// abandon is Close after a panic, which may have left a flight that nobody ends.
func (s *slicing) abandon() {
	if s.seat != nil {
		s.seat.Abandon()
	}
	_ = s.Close()
}
