package proxy

import (
	"context"
	"errors"
	"io"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/reason"
)

// store copies the body into the flight, puts it into the cache if it may be there, and ends the
// flight.
func (f *fill) store() {
	abort := context.AfterFunc(f.flight.Context(), func() { f.p.Panics.Quietly(func() { _ = f.resp.Body.Close() }) })
	size, err := copyBody(f.flight, f.resp)
	abort()
	_ = f.resp.Body.Close()
	f.head.trailers = trailersOf(f.resp)
	f.account(f.p.keep(f.flight, &f.job, f.head, err), size)
	f.flight.Finish(err)
}

// copyBody reads the body into the flight to its end. With a known length the
// last bytes are committed as such, so that no reader has them before the store.
func copyBody(f *inflight, resp *origin.Response) (size int64, err error) {
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

// keep puts a whole, storable, admitted body into the cache and says why not
// otherwise; None is stored. err is how the body ended.
func (p *Proxy) keep(f *inflight, j *job, h *head, err error) reason.Reason {
	if !h.storable() {
		return h.why
	}
	if err != nil {
		return reason.Incomplete
	}
	stages := j.route.Rule.Policy != admission.Never && p.Store.FitsStage(f.Size(), h.entry)
	body, kept := f.Whole(stages)
	switch kept {
	case flight.KeptForStore:
		o := p.Store.Put(h.entryWith(body), p.reached(j, h.entry, f.Purged))
		if o == cache.Stored {
			f.Stored(body)
		}
		return outcome(o)
	case flight.HeldBack:
		return p.holdBack(f, j, h, body)
	case flight.PurgedMeanwhile:
		return reason.Purged
	case flight.Outgrown:
	}
	if f.Size() > p.MaxObjectBytes || h.length > p.MaxObjectBytes {
		return reason.TooLarge
	}
	return reason.InflightLimit
}

// holdBack does with a body that admission did not let in what is left to do: it
// goes to the stage if there is one, and stays held back. Nil is a body that the
// stage has no place for.
func (p *Proxy) holdBack(f *inflight, j *job, h *head, body []byte) reason.Reason {
	if body != nil {
		switch p.Store.PutStage(h.entryWith(body), p.reached(j, h.entry, f.Purged)) {
		case cache.Purged:
			return reason.Purged
		case cache.Stored:
			f.Stored(body)
		case cache.TooLarge, cache.Superseded, cache.Joined: // the last is of Put alone
		}
	}
	return reason.FirstSighting // whatever the policy calls it; see account
}

// entryWith returns the entry of h with its body.
func (h *head) entryWith(body []byte) *cache.Entry {
	e := *h.entry
	e.Content = cache.InMemory(body)
	return &e
}

// outcome is the reason for what became of a Put.
func outcome(o cache.Outcome) reason.Reason {
	switch o {
	case cache.Stored, cache.Joined:
		return reason.None
	case cache.Purged:
		return reason.Purged
	default:
		return reason.TooLarge
	}
}
