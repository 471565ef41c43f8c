package proxy

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/rfc9111"
)

// errChanged ends an answer in the midst of which the representation has become
// another one.
var errChanged = errors.New("the representation has changed between two slices")

// slicing is the way of one answer through the slices of a representation: what is
// stored of them is read from the store, the others come by flights that other answers
// may share. It reads one slice after the other, as its client takes them. It outlives
// the handler and belongs to whoever writes the answer.
type slicing struct {
	p         *Proxy
	job       *job  // of every fetch, but for what it asks for
	size      int64 // of a slice
	admission flight.Admission
	vary      []string // what the slices seen so far vary on

	whole int64                  // bytes of the representation
	rep   rfc9111.Representation // that all slices must belong to
	first int64                  // the number of the one that says so

	slice    *slice // being read; nil before the first byte and between two
	at, end  int64  // the next byte to send, and where the answer ends
	admitted bool   // a slice was fetched and stored, or is about to be
	fetched  bool   // one was fetched
	held     result // of the slices that came from the store: hit, stale or revalidated
}

// slice is one of them: stored, or on its way.
type slice struct {
	number int64
	entry  *cache.Entry
	reader *reader
	head   *head // of the flight, also where it brought a stored slice
	joined bool  // it is somebody else's flight
	skip   int64 // bytes still to leave out of what reader gives
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

// slices answers x in slices, and reports whether it did: what cannot be had in slices
// is left to others.
func (p *Proxy) slices(x *exchange) bool {
	s := p.newSlicing(x)
	first, _ := x.firstAsked()
	sl, err := s.get(first/s.size, p.teller(x))
	switch {
	case err != nil:
		p.fail(x, err)
		return true
	case sl.entry == nil && sl.head.status != fasthttp.StatusPartialContent:
		// Not a part: the whole, which may be small, or no such thing.
		x.reader, x.head, x.collapsed, x.onResult = sl.reader, sl.head, sl.joined, true
		return true
	case sl.entry != nil && sl.head == nil && p.assemble(x):
		return true // stored between our look-up and now
	case !s.start(sl):
		sl.close()
		x.onResult = false
		return false
	}
	s.take(x, sl)
	return true
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

// take makes s the answer of x, which begins with sl.
func (s *slicing) take(x *exchange, sl *slice) {
	x.slices, x.onResult = s, true
	c := x.evaluate(s.rep, s.whole, 0)
	x.assembled.cut = c
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
			x.take(sl.head, !sl.joined)
		}
	}
}

// partStatus is what the origin answered, where c answers something else.
func (h *head) partStatus(c cut) int {
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

// part returns the range that the slice is said to be.
func (sl *slice) part() (rfc9111.Part, bool) {
	if sl.entry != nil {
		return rfc9111.PartOf(sl.entry.Header)
	}
	return rfc9111.PartOf(sl.head.fields)
}

// rep is what conditions and Range are compared with: the 200 that the slice is a part
// of.
func (sl *slice) rep() rfc9111.Representation {
	if sl.entry != nil {
		return wholeOf(sl.entry)
	}
	rep := sl.head.rep
	rep.Status = fasthttp.StatusOK
	return rep
}

func (sl *slice) close() {
	if sl.reader != nil {
		_ = sl.reader.Close()
	}
}

// Read gives the next bytes of the answer.
func (s *slicing) Read(b []byte) (int, error) {
	for s.at < s.end {
		if s.slice == nil || s.slice.number != s.at/s.size {
			if err := s.open(s.at / s.size); err != nil {
				return 0, err
			}
		}
		n, err := s.slice.read(b, s.at%s.size, min(s.end-s.at, s.size-s.at%s.size))
		s.at += int64(n)
		switch {
		case n > 0 && (s.at%s.size == 0 || s.at == s.end):
			s.leave()
			return n, nil
		case errors.Is(err, io.EOF):
			return n, io.ErrUnexpectedEOF
		case n > 0 || err != nil:
			return n, err
		}
	}
	return 0, io.EOF
}

// read gives bytes of the slice from the place at on, left of them at most.
func (sl *slice) read(b []byte, at, left int64) (int, error) {
	if sl.entry != nil {
		return copy(b, sl.entry.Body[at:at+left]), nil
	}
	for sl.skip > 0 {
		n, err := sl.reader.Read(b[:min(int64(len(b)), sl.skip)])
		sl.skip -= int64(n)
		if err != nil {
			return 0, err
		}
	}
	return sl.reader.Read(b[:min(int64(len(b)), left)])
}

// open makes the slice of this number the one that is read.
func (s *slicing) open(number int64) error {
	s.leave()
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
		if first != nil && rfc9111.SameStrongly(wholeOf(first), s.rep) {
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

// leave ends the reading of a slice.
func (s *slicing) leave() {
	if s.slice != nil {
		s.slice.close()
		s.slice = nil
	}
}

// Close ends the answer. What is fetched for others as well, or to be stored, goes on.
func (s *slicing) Close() error {
	s.leave()
	return nil
}

// result is what became of the answer: of which kind the slices were that it was made
// of.
func (s *slicing) result() result {
	switch {
	case !s.fetched:
		return s.held
	case s.admitted:
		return resultMiss
	}
	return resultScarce
}

// deliverSlices answers in slices, with the head of the first one.
func (p *Proxy) deliverSlices(x *exchange) {
	s, c := x.slices, x.assembled.cut
	c.assembled = true
	sl := s.slice
	stored, fields := sl.entry, field.List(nil)
	if stored != nil {
		fields = stored.Header
	} else {
		fields = sl.head.fields
		if sl.joined { // served from here, with an Age of its own
			stored = sl.head.entry
			fields = fields.Without(func(name string) bool { return name == "Age" })
		}
	}
	s.describe(x)
	b := x.begin(c.statusOr(fasthttp.StatusOK))
	b = appendFields(b, fields, c)
	ttl := int64(0)
	if stored != nil {
		age := rfc9111.CurrentAge(stored.InitialAge, stored.ResponseTime, now())
		b = appendInt(b, "Age: ", int64(age.Seconds()))
		ttl = int64((stored.Policy.Lifetime - age).Seconds())
	}
	b = p.appendCacheStatus(b, x, ttl)
	x.send(c.appendTo(b, s.whole))
	if c.bodyless() {
		x.ctx.Response.SkipBody = true
		_ = s.Close()
		return
	}
	p.stream(x, c)
}

// describe settles what the answer says of itself in Cache-Status, as far as that is
// known before the rest of the slices.
func (s *slicing) describe(x *exchange) {
	if s.slice.reader == nil && s.ends() {
		return // the origin has sent nothing that could be stored
	}
	if x.stored = x.verdict.Admit || s.admitted; !x.stored {
		x.reason = x.verdict.Reason
	}
}
