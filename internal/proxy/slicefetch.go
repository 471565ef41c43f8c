package proxy

import (
	"bytes"
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/rfc9111"
)

// newSlicing prepares an answer to x in slices.
func (p *Proxy) newSlicing(x *exchange) *slicing {
	j := &p.newFill(x, true).job
	j.facts.Range = true
	j.flightURL = x.exact.url // slices are kept under the exact target
	j.outlive(x, nothing)
	return &slicing{
		p: p, guest: x.guest, client: x.who, job: j, size: x.route.SliceBytes,
	}
}

// get returns the slice of this number, stored or on its way; t is told of interim
// responses. Where the origin answers with no such slice, get returns its response as one.
func (s *slicing) get(number int64, t tell) (*slice, error) {
	sp := s.p.newSpan(s.job.exact.name, s.size, number)
	for range maxJoins {
		sl, err := s.share(sp, t)
		if sl != nil || err != nil {
			return sl, err
		}
	}
	return s.alone(s.ask(sp, nil), t, s.job.verdict.Admit)
}

// share gets a slice from the store, or leads or joins the flight for it. It returns
// neither a slice nor an error if the key has changed or the store has been filled, and
// the caller tries again.
func (s *slicing) share(sp *span, t tell) (*slice, error) {
	number := sp.First / s.size
	name, key := s.variant(sp)
	e, stale := s.stored(key, name)
	if e != nil {
		return &slice{number: number, entry: e}, nil
	}
	r, leads := s.p.flights.Join(key, s.job.flightURL, s.admission())
	s.seat = r
	if leads {
		if e, _ := s.stored(key, name); e != nil { // stored between our look-up and our lead
			r.Flight().Fill()
			_ = r.Close()
			return &slice{number: number, entry: e}, nil
		}
		s.ask(sp, stale).start(r, t, s.guest)
	}
	h, outcome, err := s.await(r, sp, stale, t)
	leads = r.Leads()
	switch {
	case outcome == flight.Left:
		return nil, errClientGone
	case outcome != flight.Shared:
	case !leads && !s.suits(h):
		outcome, s.vary = flight.Filled, h.selected().Vary
	case !s.count(r, h, leads):
		outcome = flight.Filled // no memory for it: ask anew
	case s.mayHave(h, leads):
		return s.landed(number, r, h, leads), nil
	default:
		outcome = flight.Released // it was confirmed for another client
	}
	_ = r.Close()
	return s.unshared(sp, stale, outcome, leads, err, t)
}

// mayHave reports whether the client may have what a flight has brought, which it led or not.
func (s *slicing) mayHave(h *head, leads bool) bool {
	return leads || h.held == nil || s.job.route.shares(h, s.job.directives)
}

// await waits for a header, and leads anew where it is this client's turn.
func (s *slicing) await(r *reader, sp *span, stale *cache.Entry, t tell) (*head, flight.Outcome, error) {
	for {
		h, outcome, err := r.Wait(s.job.settings.patience(s.job.route, s.guest), s.suits)
		if outcome != flight.LeadAnew {
			return h, outcome, err
		}
		s.ask(sp, stale).start(r, t, s.guest)
	}
}

// unshared goes on after a flight that has brought nothing for the client, which led it or
// not.
func (s *slicing) unshared(sp *span, stale *cache.Entry, o flight.Outcome, leads bool, err error, t tell) (*slice, error) {
	if ofItsClient(leads, err) {
		return nil, nil
	}
	switch o {
	case flight.Failed:
		return s.standIn(sp.First/s.size, stale, err)
	case flight.TimedOut:
		return s.standIn(sp.First/s.size, stale, errNoHeader)
	case flight.Released:
		return s.alone(s.ask(sp, stale), t, s.job.verdict.Admit)
	case flight.Left:
		return nil, errClientGone
	case flight.Shared, flight.Filled, flight.LeadAnew:
	}
	return nil, nil
}

// landed is the slice that a flight has brought.
func (s *slicing) landed(number int64, r *reader, h *head, leads bool) *slice {
	sl := &slice{number: number, reader: r, head: h, joined: !leads}
	if h.held != nil {
		_ = r.Close()
		sl.reader, sl.entry = nil, h.held
		if leads && h.own != nil {
			sl.entry = h.own
		}
		s.held = max(s.held, h.as)
		return sl
	}
	s.guest.Ends(r)
	s.fetched = true
	if h.entry != nil {
		s.vary = h.entry.Vary
	}
	s.storable = s.storable || h.storable()
	s.admitted = s.admitted || h.storable() && r.Secured()
	return sl
}

// alone fetches a slice that cannot be shared.
func (s *slicing) alone(f *fill, t tell, admit bool) (*slice, error) {
	r := s.p.flights.Lead(f.span.key, s.job.flightURL, admit, s.client)
	s.seat = r
	f.start(r, t, s.guest)
	h, outcome, err := r.Wait(flight.Patience{Left: s.guest.Gone()}, s.suits)
	if outcome == flight.Left {
		return nil, errClientGone
	}
	if outcome != flight.Shared {
		_ = r.Close()
		return nil, err
	}
	return s.landed(f.span.First/s.size, r, h, true), nil
}

// ask is the fill of a slice, or asks whether the stale one is still right.
func (s *slicing) ask(sp *span, stale *cache.Entry) *fill {
	f, request := &fill{p: s.p, job: *s.job}, *s.job.request
	f.request, f.span = &request, sp
	f.url, f.born = sp.key, s.p.Purges.Now()
	request.Header = slices.Clone(request.Header)
	request.Header.Add("Range", sp.rangeField())
	if stale != nil {
		f.validate(stale)
	}
	return f
}

// standIn is the stale slice in place of a failure that others had, or the failure.
func (s *slicing) standIn(number int64, stale *cache.Entry, err error) (*slice, error) {
	h := s.p.standInFor(s.job, stale, err)
	if h == nil {
		return nil, err
	}
	s.held = max(s.held, h.as)
	return &slice{number: number, entry: h.held, head: h, joined: true}, nil
}

// variant returns the name and the key of the slice that the request selects.
func (s *slicing) variant(sp *span) (name []byte, key cache.Key) {
	names, ok := s.p.Store.Vary(sp.key, sp.name)
	if !ok {
		names = s.vary
	}
	if len(names) == 0 {
		return sp.name, sp.key
	}
	name = s.job.variant(sp.name, names)
	return name, s.p.Hasher.Sum(name)
}

// suits reports whether the request selects what a flight for the slice has brought.
func (s *slicing) suits(h *head) bool {
	e := h.selected()
	return len(e.Vary) == 0 || bytes.Equal(e.Name, s.job.variant(e.Name[:e.URLLen], e.Vary))
}

// stored returns the slice under this key if it can be used as it is, or what is to be
// validated.
func (s *slicing) stored(key cache.Key, name []byte) (e, stale *cache.Entry) {
	at := now()
	e, tier := s.p.findUnpurged(key, name, s.job.resource, at)
	if e == nil {
		return nil, nil
	}
	age := rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, at)
	if e.Policy.Use(age, s.job.directives, s.job.route.HonorRequest) == rfc9111.UseNow {
		if tier == cache.Stage {
			s.p.promoteEntry(s.job.route, s.job.verdict, e, fillKey(e))
		}
		return e, nil
	}
	if tier == cache.Memory && e.Policy.Useful(age) {
		return nil, e
	}
	return nil, nil
}
