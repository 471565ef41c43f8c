package proxy

import (
	"bytes"
	"errors"
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/sliced"
)

// newSlicing prepares an answer to x in slices.
func (p *Proxy) newSlicing(x *exchange) *slicing {
	j := &p.newFill(x, true).job
	j.facts.Range = true
	j.urlKey = x.exact.urlKey // slices are kept under the exact target
	j.outlive(x, dropNone)
	s := &slicing{p: p, waiting: x.presence, client: x.who, job: j}
	s.way = sliced.New(s, x.route.SliceBytes)
	return s
}

// get returns the slice of this number, stored or on its way; t is told of interim
// responses. Where the origin answers with no such slice, get returns its response as one.
func (s *slicing) get(number int64, t sendInterim) (*slice, error) {
	sl := &slice{number: number, s: s, span: s.p.newSpan(s.job.exact.name, s.way.Size(), number), interim: t}
	if !sl.findStored() {
		s.p.share(sl)
	}
	if sl.err != nil {
		return nil, sl.err
	}
	return sl, nil
}

// findStored implements wanted. What it finds that cannot be used as it is will be validated.
func (sl *slice) findStored() (done bool) {
	s := sl.s
	e, heldBack := s.find(sl)
	sl.entry, sl.stale = s.usable(e, heldBack)
	return sl.entry != nil
}

// join implements wanted, with a seat in the flight that began before it was known what the
// slice varies by, if there is one: it may bring this variant.
func (sl *slice) join() (r *reader, leads bool) {
	s := sl.s
	if sl.key != sl.span.key && !sl.redirected {
		if r, _ = s.p.flights.Follow(sl.span.key, s.admission()); r != nil {
			s.seat = r
			return r, false
		}
	}
	r, leads = s.p.flights.Join(sl.key, s.job.urlKey, s.admission())
	s.seat = r
	return r, leads
}

func (sl *slice) keyMoved(r *reader) bool { return r.Flight().Key() != sl.key }

func (sl *slice) lead(r *reader, _ bool) (answered bool) {
	sl.newFill().start(r, sl.interim, sl.s.waiting)
	return false
}

func (sl *slice) wait(r *reader) (*outcome, flight.Outcome, error) {
	return r.Wait(sl.s.job.settings.patience(sl.s.job.route, sl.s.waiting), sl.s.suits)
}

func (sl *slice) answers(h *outcome, leads bool) bool { return leads || sl.s.suits(h) }

func (sl *slice) redirect(h *outcome, _ bool) (done bool) {
	sl.redirected = true
	sl.s.vary = h.selected().vary
	return sl.findStored()
}

func (sl *slice) asksAgain(h *outcome) bool { return asksAfter(h, sl.stale != nil, &sl.askedAgain) }

func (sl *slice) mayHave(h *outcome) bool { return sl.s.job.route.shares(h, sl.s.job.directives) }

func (sl *slice) take(r *reader, h *outcome, leads bool) {
	s := sl.s
	sl.head, sl.joined = h, !leads
	if h.held != nil {
		_ = r.Close()
		sl.entry = h.held
		if leads && h.own != nil {
			sl.entry = h.own
		}
		s.held = max(s.held, h.as)
		return
	}
	s.waiting.Ends(r)
	sl.reader = r
	s.fetched = true
	if h.entry != nil {
		s.vary = h.entry.Vary
	}
	s.storable = s.storable || h.storable()
	s.admitted = s.admitted || h.storable() && r.Secured()
}

// fetchAlone implements wanted, by a flight that nobody joins.
func (sl *slice) fetchAlone(bool) {
	s := sl.s
	f := sl.newFill()
	r := s.p.flights.Lead(sl.span.key, s.job.urlKey, s.job.verdict.Admit, s.client)
	s.seat = r
	f.start(r, sl.interim, s.waiting)
	h, outcome, err := awaitHeader(sl, r)
	if outcome == flight.Shared {
		sl.take(r, h, true)
		return
	}
	_ = r.Close()
	sl.stale = nil // it was validated, if it was of any use
	actOnEnd(sl, outcome, err)
}

func (sl *slice) fail(err error) {
	var h *outcome
	if !errors.Is(err, errClientGone) {
		h = sl.s.p.staleOnSharedFailure(sl.s.job, sl.stale, err)
	}
	if h == nil {
		sl.err = err
		return
	}
	sl.s.held = max(sl.s.held, h.as)
	sl.entry, sl.head, sl.joined = h.held, h, true
}

// newFill returns the fill of sl, which asks whether what is stale is still right, if there is
// something.
func (sl *slice) newFill() *fill {
	s := sl.s
	f, request := &fill{p: s.p, job: *s.job}, *s.job.request
	f.memory = fillMemory{}
	f.request, f.span = &request, sl.span
	f.fillKey, f.born = sl.span.key, s.p.Purges.Now()
	request.Header = slices.Clone(request.Header)
	request.Header.Add("Range", sliced.Field(sl.span.Range))
	f.trace = f.trace.again(&request)
	if sl.stale != nil {
		f.validate(sl.stale)
	}
	return f
}

// suits reports whether the request selects what a flight for the slice has brought.
func (s *slicing) suits(h *outcome) bool {
	e := h.selected()
	return len(e.vary) == 0 || bytes.Equal(e.name, s.job.variant(e.baseName, e.vary))
}

// find finds the slice that is stored for the request, as findMatch does, and sets the key of sl: that of the slice found, else the one by
// which it is fetched.
func (s *slicing) find(sl *slice) (e *cache.Object, heldBack bool) {
	sp := sl.span
	lists := s.p.Store.Vary(sp.key, sp.name)
	if lists.Len() == 0 {
		lists = s.p.Store.LoadVary(sp.key, sp.name)
	}
	sl.key = sp.key
	if lists.Len() == 0 {
		e, heldBack, lists = s.findUnder(sp.key, sp.name)
	}
	for i := range lists.Len() {
		name := s.job.variant(sp.name, lists.At(i))
		e, heldBack = s.better(sl, e, heldBack, s.p.Hasher.Sum(name), name)
	}
	if lists.Len() > 0 && (e == nil || !isFresh(e, now())) {
		e, heldBack = s.better(sl, e, heldBack, sp.key, sp.name)
	}
	if e == nil {
		e, heldBack = s.findByLast(sl, lists)
	}
	return e, heldBack
}

// findByLast sets the key of sl, of which nothing was found, by what the slices seen so far vary by, and looks there.
func (s *slicing) findByLast(sl *slice, lists cache.Lists) (e *cache.Object, heldBack bool) {
	names := s.vary
	if names == nil && lists.Len() > 0 {
		names = lists.At(0)
	}
	if len(names) == 0 {
		return nil, false
	}
	name := s.job.variant(sl.span.name, names)
	sl.key = s.p.Hasher.Sum(name)
	e, heldBack, _ = s.findUnder(sl.key, name)
	return e, heldBack
}

// better returns which of e, which was found before, and what is stored under this key answers the request, and releases the other.
func (s *slicing) better(sl *slice, e *cache.Object, heldBack bool, key cache.Key, name []byte) (*cache.Object, bool) {
	other, otherHeldBack, _ := s.findUnder(key, name)
	switch {
	case other == nil:
		return e, heldBack
	case e == nil:
	case prefers(e, other, now()):
		s.p.Store.Release(other)
		return e, heldBack
	default:
		s.p.Store.Release(e)
	}
	sl.key = key
	return other, otherHeldBack
}

// findUnder returns the slice that is stored under this key, in memory or on the disk. For vary see cache.Store.Load.
func (s *slicing) findUnder(key cache.Key, name []byte) (e *cache.Object, heldBack bool, vary cache.Lists) {
	at := now()
	if e, heldBack = s.p.findUnpurged(key, name, s.job.resource, at); e == nil && s.p.Store.HasDisk() {
		e, vary = s.p.loadUnpurged(key, name, s.job.resource, at)
	}
	return e, heldBack, vary
}

// usable returns e, which was found, if it can be used as it is, or what is to be validated.
func (s *slicing) usable(e *cache.Object, heldBack bool) (fresh, stale *cache.Object) {
	if e == nil {
		return nil, nil
	}
	at := now()
	age, policy := e.Age(at), e.Policy()
	if policy.Use(age, s.job.directives, s.job.route.HonorRequest) == rfc9111.UseNow {
		if heldBack {
			s.p.promoteEntry(s.job.route, s.job.verdict, e, fillKey(e.Key(), e.URL(), e.Vary()))
		}
		return e, nil
	}
	if !heldBack && policy.Useful(age) {
		return nil, e
	}
	return nil, nil
}
