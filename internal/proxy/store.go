package proxy

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
)

// store reads the body into the flight, puts it into the cache if it may be stored, and ends the flight.
func (f *fill) store() {
	abort := func() bool { return true }
	if !f.resp.Here { // else no read waits
		abort = context.AfterFunc(f.flight.Context(), func() { f.p.Panics.Quietly(func() { _ = f.resp.Body.Close() }) })
	}
	w := f.p.Store.Write()
	defer w.Abort() // after a panic, or where nothing is stored
	f.write(&w)
	size, err := copyBody(f.flight, &w, f.resp)
	abort()
	_ = f.resp.Body.Close()
	f.head.trailers = trailersOf(f.resp, f.route)
	f.account(f.trace.stored(f.commit(&w, err)), size)
	f.flight.Finish(err)
}

// copyBody reads the body into the flight and w to its end. With a known length the
// last bytes are committed as such, so that no reader has them before the store.
func copyBody(f *inflight, w *cache.Writer, resp *origin.Response) (size int64, err error) {
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
			w.Append(room[:n])
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

// write makes w take the body from its first byte on, if it will be stored. If there was no memory for it, the head
// has said that it is not stored.
func (f *fill) write(w *cache.Writer) {
	if w.Wants() && f.flight.KeptWhole() && f.flight.Admitted() {
		w.Begin(f.head.entry, f.head.length)
	}
}

// keepsInStage reports whether a response of size bytes that admission holds back goes into the stage.
func (f *fill) keepsInStage(size int64) bool {
	return f.route.Rule.Policy != admission.Never && f.p.Store.Takes(size, f.head.entry, false)
}

// commit puts a whole, storable body into the cache, as admission has decided. It returns why the body was not stored, None if
// it was. err is how the body ended.
func (f *fill) commit(w *cache.Writer, err error) reason.Reason {
	h := f.head
	if !h.storable() {
		return h.why
	}
	if err != nil {
		return reason.Incomplete
	}
	size := f.flight.Size()
	body, kept := f.flight.Whole(f.keepsInStage(size))
	if kept == flight.PurgedMeanwhile || body == nil && !w.Holds(size) {
		return f.p.whyUnstored(kept, max(size, h.length), w.Lost())
	}
	admitted := kept == flight.KeptForStore || kept == flight.Outgrown && f.flight.Admitted()
	f.note()
	o, inMemory := w.Commit(h.entry, body, admitted, f.p.purgedCheck(&f.job, h.entry, f.flight.Purged))
	if inMemory {
		f.flight.Stored(body)
	}
	if !admitted && o != cache.Purged {
		return reason.FirstSighting // also where it is staged, and whatever the policy calls it; see account
	}
	return reasonOf(o)
}

// whyUnstored returns why a whole body of size bytes is not stored of which memory has only a part; lost is why the disk does not have it.
func (p *Proxy) whyUnstored(kept flight.Kept, size int64, lost cache.Outcome) reason.Reason {
	switch {
	case kept == flight.Outgrown && lost != cache.Stored:
		return reasonOf(lost)
	case kept == flight.PurgedMeanwhile:
		return reason.Purged
	case kept == flight.HeldBack: // and no stage has a place for it
		return reason.FirstSighting
	case size > p.MaxObjectBytes:
		return reason.TooLarge
	}
	return reason.InflightLimit
}

// reasonOf returns the reason for the outcome of an admitted response.
func reasonOf(o cache.Outcome) reason.Reason {
	switch o {
	case cache.Stored, cache.Joined, cache.InDemand:
		return reason.None
	case cache.DiskBusy:
		return reason.DiskBusy
	case cache.OverRate:
		return reason.WriteRate
	case cache.Purged:
		return reason.Purged
	case cache.VaryLimit:
		return reason.VaryLimit
	default:
		return reason.TooLarge
	}
}

// fillCounts counts fills: fetches of a GET that asked the cache and got a response. When none
// is under way,
//
//	storable = stored + held back + refused
//
// A fill is counted as storable when its header is judged, and on the other side when its body
// has ended, so each side checks the other. The fills that are stored are the writes of the
// memory tier less its promotions.
type fillCounts struct {
	storable, notStorable   atomic.Int64
	stored, refused         atomic.Int64
	heldBack, heldBackBytes atomic.Int64
	regret, regretBytes     atomic.Int64
	// fills that were held back, and not promoted since, by policies that have no regret to tell
	unjudged, unjudgedBytes atomic.Int64
	promoted, promotedBytes atomic.Int64   // from the stage: written without a fill
	notStored               []atomic.Int64 // one count for each reason: held back, refused and not storable
}

// fillable reports whether a store without limits of size would take the response. Its fill then
// counts as storable.
func (h *outcome) fillable() bool { return h.storable() || h.why == reason.TooLarge }

// account counts the end of f once, however often it is called. It counts nothing for a HEAD,
// nor where a stored response is the answer. why is None for what was stored; size is how many
// bytes of the body arrived.
func (f *fill) account(why reason.Reason, size int64) {
	if f.accounted || f.head == nil || f.head.held != nil || f.facts.Method == "HEAD" {
		return
	}
	f.accounted = true
	h, r, c := f.head, f.route, &f.route.metrics.fills
	switch {
	case !h.fillable():
		c.notStorable.Add(1)
	case why == reason.None:
		f.dropOutdated()
		f.reportToAdmission(size, false)
		c.stored.Add(1)
	case why.HeldBack():
		if why = r.Rule.Policy.HoldsBack(); f.verdict.Reason == reason.Outweighed {
			why = reason.Outweighed
		}
		c.heldBack.Add(1)
		c.heldBackBytes.Add(size)
		if !r.Rule.Policy.Remembers() {
			c.unjudged.Add(1)
			c.unjudgedBytes.Add(size)
		}
		f.reportToAdmission(size, true)
	default:
		c.refused.Add(1)
	}
	if why != reason.None {
		c.notStored[why].Add(1)
		f.countCookies(why)
	}
}

// reportToAdmission tells the gate that f was stored or held back, and counts regret.
func (f *fill) reportToAdmission(size int64, heldBack bool) {
	if f.p.Gate.Filled(f.route.Rule, f.fillKey.Hi, f.fillKey.Lo, size, heldBack) {
		c := &f.route.metrics.fills
		c.regret.Add(1)
		c.regretBytes.Add(size)
	}
}

// ended counts the fill of x, which fetched for itself and stored nothing.
func (x *exchange) ended(whole bool) {
	if x.fill == nil {
		return // it was no fill: the cache was not asked
	}
	why := x.fill.head.why
	switch {
	case why != reason.None:
	case !whole:
		why = reason.Incomplete
	case x.bytes > x.p.MaxObjectBytes:
		why = reason.TooLarge
	case x.codingRefused:
		why = reason.CodingRefused
	case x.verdict.Admit:
		why = x.whyNotToStore()
	default:
		why = x.verdict.Reason
	}
	x.fill.account(why, x.bytes)
}

// dropOutdated removes the stale response in whose place the origin has sent the one that is stored now (RFC 9111 section 4.3.3). It is
// still there if the two vary by different names, and would go on answering other requests stale. A fresh one stays: a client chooses
// when to have one validated, and so could have each of them removed.
func (f *fill) dropOutdated() {
	e := f.fallback
	if e == nil || e.Key() == f.head.entry.Key || rfc9111.Fresh(e.Lifetime(), e.Age(f.head.at)) {
		return
	}
	f.p.Store.Discard(e)
}
