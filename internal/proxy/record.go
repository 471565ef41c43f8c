package proxy

import (
	"time"

	"edgeproxy/internal/http/reason"
)

// describe settles what a fetched answer says of itself in Cache-Status. The body is not here
// yet, so "stored" means that the response is admitted and memory is reserved for it.
func (p *Proxy) describe(x *exchange, h *outcome) {
	if x.reason != reason.None {
		return // of the request: the cache was not asked
	}
	switch {
	case !h.storable():
		x.reason = h.why
	case x.codingRefused:
		x.reason = reason.CodingRefused
	case x.leaderOnly != nil && x.verdict.Admit:
		x.stored, x.reason = x.leaderOnly.storedOrWhy()
	case x.reader() != nil && x.reader().Secured():
		x.stored = true
	case x.reader() != nil && x.reader().Flight().Admitted():
		x.reason = reason.InflightLimit
	case x.verdict.Admit:
		x.reason = x.whyNotToStore()
	default:
		x.reason = x.verdict.Reason
	}
}

// whyNotToStore returns why a fetch for an admitted request was not made to be stored.
func (x *exchange) whyNotToStore() reason.Reason {
	switch {
	case x.asks.precondition:
		return reason.Precondition
	case x.small:
		return reason.SmallRange
	}
	return reason.Refused
}

// settleResult sets the result of a fetched answer, and its reason, once the end of the fill is known.
func (x *exchange) settleResult() {
	if s, ok := x.from.(*slicing); ok && x.result != resultError {
		x.result = s.result()
		return
	}
	h := x.fetched()
	if h == nil || x.result == resultError || x.result == resultPass {
		return
	}
	admitted := x.mayBeMiss()
	if r := x.reader(); r != nil {
		admitted = r.Flight().Admitted()
	}
	switch {
	case h.why == reason.TooLarge, h.storable() && admitted:
		x.result = resultMiss
		if x.reason.HeldBack() {
			x.reason = reason.None // a follower admitted it after the header was sent
		}
	case h.storable():
		x.result = resultScarce
	default:
		x.result = resultPass
	}
}

// mayBeMiss reports whether a storable response that was fetched for x alone counts as a miss, and not as held back.
func (x *exchange) mayBeMiss() bool { return x.verdict.Admit || x.codingRefused }

// record ends the exchange: counters, log line, and back into the pool.
func (p *Proxy) record(x *exchange) {
	defer p.releaseExchange(x)
	defer func() {
		if v := recover(); v != nil { // the answer is what it is
			p.Panics.Note(v)
			p.logPanic(x, x.sent, v)
		}
	}()
	x.settleResult()
	if x.uncounted {
		return
	}
	status := x.sent
	ended := now()
	duration := ended.Sub(x.start)
	if !x.streaming {
		x.firstByte = duration
	}
	answered := duration
	if _, ok := x.from.(switched); ok && x.firstByte >= 0 {
		answered = x.firstByte // what came after the 101 is no answer
	}
	p.Metrics.request(x, status, answered)
	x.countByName(ended)
	if p.Shadow != nil && x.sighted {
		p.recordShadows(x)
	}
	if x.settings.Sampler != nil {
		p.emitSpan(x, status, duration)
	}
	if p.AccessLog != nil && x.logged() {
		p.log(x, status, duration)
	}
}

// countByName counts x by its host and URL, where the settings want that.
func (x *exchange) countByName(ended time.Time) {
	if t := x.settings.top; t != nil {
		x.countTop(t, ended)
	}
	if h := x.settings.hosts; h != nil {
		h.count(x)
	}
}

// releaseExchange puts x back into the pool. Only now is its request no longer in flight: when
// none is in flight, all are counted.
func (p *Proxy) releaseExchange(x *exchange) {
	x.run.End()
	p.releaseSlot(x)
	p.releaseTunnel(x)
	if x.busy {
		x.route.metrics.busy.Add(-1)
	}
	x.upload.release(p.uploads)
	if x.loaded != nil && !x.refresh {
		p.Store.Release(x.loaded)
	}
	x.reset()
	p.exchanges.Put(x)
	p.inFlight.Add(-1)
}
