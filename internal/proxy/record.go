package proxy

import (
	"time"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/ops/top"
	"edgeproxy/internal/proxy/internal/running"
)

// describe settles what a fetched answer says of itself in Cache-Status. The body is not here
// yet, so "stored" means that the response is admitted and memory is reserved for it.
func (p *Proxy) describe(x *exchange, h *outcome) {
	if x.reason != reason.None {
		return // the reason is the request's: the cache was not asked
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
		x.result = resultHeldBack
	default:
		x.result = resultPass
	}
}

// mayBeMiss reports whether a storable response that was fetched for x alone counts as a miss, and not as held back.
func (x *lookup) mayBeMiss() bool { return x.verdict.Admit || x.codingRefused }

// record ends the exchange: counters, log line, and back into the pool.
func (p *Proxy) record(x *exchange) {
	defer p.releaseExchange(x)
	defer func() {
		if v := recover(); v != nil { // the answer is what it is
			p.Panics.Note(v)
			p.logPanic(x, x.sent, v)
		}
	}()
	if _, ok := x.from.(stored); !ok {
		x.settleResult()
	}
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
	if x.holds {
		p.releaseHeld(x)
	}
	if x.loaded != nil && !x.refresh {
		p.Store.Release(x.loaded)
	}
	x.reset()
	p.exchanges.Put(x)
	p.inFlight.Add(-1)
}

// releaseHeld gives back what x holds that a hit does not.
func (p *Proxy) releaseHeld(x *exchange) {
	x.run.End()
	p.releaseSlot(x)
	p.releaseTunnel(x)
	if x.busy {
		x.route.metrics.busy.Add(-1)
	}
	x.upload.release(p.uploads)
}

// recordShadows gives the shadow policies a finished request they have an eye on.
func (p *Proxy) recordShadows(x *exchange) {
	size, storable := x.object()
	p.Shadow.Request(x.route.Rule, x.countedKey.Hi, x.countedKey.Lo, size, storable, x.start)
}

// object returns what is known of the object that x asked for: its whole size,
// -1 if x did not tell, and whether a cache may store what x fetched.
func (x *exchange) object() (size int64, storable bool) {
	switch from := x.from.(type) {
	case *slicing:
		return from.whole, true
	case *assembly:
		return from.whole, true
	case stored:
		return from.Content().Size(), true
	}
	switch h := x.fetched(); {
	case h == nil:
		return -1, false
	case !h.fillable(): // also a 304 and a 206, which are not the object
		return -1, false
	case h.length >= 0:
		return h.length, x.asks.get
	case x.asks.get && !x.asks.ranged && x.body != nil && x.body.whole:
		return x.bytes, true
	default:
		return -1, x.asks.get
	}
}

// newTop returns what counts by o: before, where it does that already; nil for nothing.
func newTop(o top.Options, before *top.Table) *top.Table {
	switch {
	case o.Entries <= 0:
		return nil
	case before != nil && before.Options == o:
		return before
	}
	return top.New(o, now())
}

// Top returns what counts hosts and URLs now; nil for nothing.
func (p *Proxy) Top() *top.Table { return p.settings.Load().top }

// countTop counts x, which has ended at this time, by its host and its URL. One that was refused before they were understood
// has none.
func (x *exchange) countTop(t *top.Table, at time.Time) {
	target := x.keyedOrNormal() // what shares a response is one URL
	if target == nil {
		return
	}
	r := top.Request{
		Scheme: x.scheme, Host: x.host, Target: target, Bytes: x.bytes, Lane: x.lane,
		Miss: x.result == resultMiss || x.result == resultHeldBack, HeldBack: x.result == resultHeldBack,
	}
	t.Count(&r, at)
}

// What follows notes the requests that run for longer than an answer from memory takes: those that Finish
// answers, and those whose content is streamed.

// Running returns the requests that began first of those under way, at most n, and how many there are in all. Hits that are
// answered from memory at once are none of them.
func (p *Proxy) Running(n int) (rows []running.Row, total int) { return p.running.Oldest(n) }

// noteRunning notes that x goes on after Begin or Finish, and what it waits for then.
func (p *Proxy) noteRunning(x *exchange) {
	phase := x.phase()
	if x.run.On() {
		x.run.Enter(phase)
		return
	}
	if x.run == nil {
		x.run = &running.Request{}
	}
	x.holds = true
	a := running.About{
		Start: x.start, Scheme: x.scheme, Method: x.method, Host: x.host, Target: x.target.Raw, Client: x.ClientAddress(),
	}
	if x.route != nil {
		a.Route = x.route.Name
	}
	p.running.Begin(x.run, x.lane, &a, phase)
}

// phase is what x waits for, as far as Begin and Finish know.
func (x *sending) phase() running.Phase {
	switch {
	case x.streaming && x.answer.TakeOver != nil:
		return running.Tunnel
	case x.streaming:
		return running.Sending
	case x.way == needsPassword:
		return running.Password
	case x.way == hit, x.way == needsDisk:
		return running.Disk
	}
	return running.Origin
}

// waitsFor notes that x waits for the head of a response: one that another request fetches, or its own.
func (x *exchange) waitsFor(other bool) {
	if other {
		x.run.Enter(running.SharedFetch)
		return
	}
	x.run.Enter(running.Origin)
}
