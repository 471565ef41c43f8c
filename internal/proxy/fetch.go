package proxy

import (
	"context"
	"errors"
	"io"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/presence"
	"edgeproxy/internal/reason"
)

// fill is the flight of a fetch.
type fill = flight.Flight[cache.Key, *head]

// errUnshared ends a flight whose response turned out to be for one client.
var errUnshared = errors.New("response is not kept")

// launch starts the fetch of the flight that r leads, and tells x's client what
// comes before the header.
func (p *Proxy) launch(x *exchange, r *reader) {
	p.start(r, p.newShared(x), p.teller(x), x.guest)
}

// launchAnew does so for the further flight of a follower that has waited enough. It may
// be given another's header meanwhile and go, so the fetch has copies of all it needs.
func (p *Proxy) launchAnew(x *exchange, r *reader) {
	j := p.newShared(x)
	j.outlive(x, nothing)
	p.start(r, j, p.teller(x), x.guest)
}

// start begins the fetch j of the flight that r leads and tells t of interim responses,
// until guest has left.
func (p *Proxy) start(r *reader, j *job, t tell, guest *presence.Client) {
	j.interims = handOver(j.request, t)
	if p.flights.Go(r, func(f *fill) { p.fetch(f, j) }, p.fetchPanicked) {
		j.interims.relay(t, r.Undecided, guest.Gone())
	}
}

// fetch is the leader's half: it asks the origin, publishes the header, copies
// the body into the flight, and stores it. The flight ends only then.
func (p *Proxy) fetch(f *fill, j *job) {
	resp, held, err := p.fetchOrKeep(f.Context(), j, f.Purged)
	switch {
	case held != nil:
		f.Answer(held)
		return
	case err != nil:
		f.Finish(err)
		return
	}
	defer func() { _ = resp.Body.Close() }() // after a panic too
	if !f.Judge() {
		f.Finish(errUnshared)
		return
	}
	h := p.judge(j, resp)
	p.mark(j, h, resp)
	p.supersede(j, h)
	says := h.responseTo(j, f.Key())
	f.Publish(h, says)
	if says.Recounted {
		f.AwaitDecisions() // or a body that is short might end before them
	}
	p.carry(f, j, h, resp)
}

// carry copies the body into the flight and ends it.
func (p *Proxy) carry(f *fill, j *job, h *head, resp *origin.Response) {
	defer func() { _ = resp.Body.Close() }()
	abort := context.AfterFunc(f.Context(), func() { p.Panics.Quietly(func() { _ = resp.Body.Close() }) })
	booked := false
	defer func() {
		if !booked { // after a panic: what was judged has an end all the same
			p.account(j.route, h, j.url, reason.Panic, 0)
		}
	}()
	size, err := copyBody(f, resp)
	abort()
	_ = resp.Body.Close()
	h.trailers = trailersOf(resp)
	why := p.store(f, j, h, err)
	p.account(j.route, h, j.url, why, size)
	booked = true
	f.Finish(err)
}

// copyBody reads the body into the flight to its end. With a known length the
// last bytes are committed as such, so that no reader has them before the store.
func copyBody(f *fill, resp *origin.Response) (size int64, err error) {
	left := resp.ContentLength
	for left != 0 {
		room := f.Space(left)
		if left > 0 {
			room = room[:min(int64(len(room)), left)]
		}
		n, err := resp.Body.Read(room)
		size += int64(n)
		if left > 0 {
			left -= int64(n)
		}
		if n > 0 {
			f.Commit(n, left == 0)
		}
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
	// The framing has to agree that this was all.
	var none [1]byte
	if _, err := resp.Body.Read(none[:]); err != nil && !errors.Is(err, io.EOF) {
		return size, err
	}
	return size, nil
}

// answersOne reports whether the response answers the Range or condition of one client.
func answersOne(h *head, j *job) bool {
	switch h.status {
	case statusNotModified, statusPreconditionFailed, statusRequestedRangeNotSatisfiable:
		return true
	}
	return h.why == reason.Partial && (j.span == nil || !j.span.slice)
}

// mark makes the next requests not queue for a key whose response cannot be
// shared; a storable one clears that. What a request with credentials got says
// nothing about the others.
func (p *Proxy) mark(j *job, h *head, resp *origin.Response) {
	switch {
	case h.shareable():
		p.marks.Clear(j.base)
	case answersOne(h, j): // and says nothing of what others get
	case !h.storable() && j.settings.UncacheableFor > 0 && !j.facts.Authorization && !j.facts.Cookie && j.facts.Method == "GET":
		p.marks.Set(j.base, resp.ResponseTime.Add(j.settings.UncacheableFor))
	}
}
