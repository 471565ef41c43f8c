package proxy

import (
	"time"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
)

// decide finds the route, whether the cache may be asked, counts the sighting
// and looks the key up. The dispositions are decided here, for a part of the requests with decideOnDisk and authenticate.
func (p *Proxy) decide(x *exchange) disposition {
	if x.status != 0 || p.Challenge != nil && p.challenged(x) {
		return refused
	}
	found := p.findRoute(x)
	if !x.retrieves() && x.purges() {
		return p.purgeRequested(x)
	}
	if !found {
		p.refuse(x, statusNotFound, reason.NoRoute)
		return refused
	}
	if x.uses&usesIgnoring != 0 {
		x.dropIgnored()
	}
	if x.uses&usesGuards != 0 && !p.admitsClient(x) {
		return refused
	}
	if x.uses&usesPasswords != 0 && !p.authenticatedBefore(x) {
		return p.refuseOrAuthenticate(x)
	}
	return p.admitted(x)
}

// admitted is decide for x, whose client may use its route.
func (p *Proxy) admitted(x *exchange) disposition {
	if x.uses&usesOwnTarget != 0 && !p.needsOrigin(x) || !x.retrieves() && x.answeredAsLast() {
		return refused
	}
	if x.asks.authorization || x.asks.cookie {
		x.applyRules()
	}
	why, fwd := x.bypass()
	x.answerable = why == reason.None
	if x.retrieves() {
		x.keyURL(p.Hasher)
	}
	switch {
	case why == reason.None:
	case x.request.OnlyIfCached && x.retrieves():
		p.refuse(x, statusGatewayTimeout, reason.OnlyIfCached)
		return refused
	default:
		x.reason, x.fwd = why, fwd
		return p.acquireSlot(x, pass)
	}
	return p.sight(x, p.lookupOrForward(x))
}

// admitsClient reports whether the client of x may use the route by its address, also where the origin takes its path for another one, and does
// not so too often.
func (p *Proxy) admitsClient(x *exchange) bool {
	if x.route.Access.guarded() && !x.route.Access.admits(x.ClientAddress()) {
		p.refuse(x, statusForbidden, reason.Denied)
		return false
	}
	if !x.admittedHoweverRead() {
		p.refuse(x, statusForbidden, reason.AmbiguousPath)
		return false
	}
	return p.withinRate(x)
}

// needsOrigin reports whether x goes on to cache and origin: the route does not answer itself, and its origin can be
// asked for the target.
func (p *Proxy) needsOrigin(x *exchange) bool {
	if x.route.answer != nil {
		x.answerItself()
		return false
	}
	return p.rewritable(x)
}

// retrieves reports whether x is a GET or HEAD, which a cache could answer.
func (x *incoming) retrieves() bool { return x.asks.get || x.asks.head }

// lookupOrForward looks the key up and sees whether a miss may go to the origin.
func (p *Proxy) lookupOrForward(x *exchange) disposition {
	if x.uses&usesQueryRules != 0 {
		p.keyByRule(x)
	}
	x.countedKey, x.asOf = x.urlKey, p.flights.Ended()
	found := p.lookup(x) || p.assemble(x)
	if len(x.vary)+len(x.partsVary) > 0 {
		p.countBy(x)
	}
	switch {
	case found:
		return hit
	case x.onDisk && x.fwd != fwdStale && x.fwd != fwdRequest:
		return needsDisk
	}
	return p.decideMiss(x)
}

// decideMiss sees whether x, for which nothing is stored that may answer, may go to the origin.
func (p *Proxy) decideMiss(x *exchange) disposition {
	if x.request.OnlyIfCached {
		p.refuse(x, statusGatewayTimeout, reason.OnlyIfCached)
		return refused
	}
	return p.acquireSlot(x, miss)
}

// sight counts the sighting, hits included; what we refuse is none.
func (p *Proxy) sight(x *exchange, d disposition) disposition {
	if d == refused {
		return d
	}
	x.sighted = true
	x.verdict = p.Gate.Sight(x.route.Rule, x.countedKey.Hi, x.countedKey.Lo)
	switch {
	case len(x.room.entries) > 0:
		p.promoteParts(x, &x.room)
	case x.fwd == fwdStale && !x.heldBack:
		// What is stored is renewed without asking the filter again.
		x.renews, x.verdict = true, admission.Verdict{Admit: true}
	case d == hit && x.heldBack:
		p.promote(x)
	}
	return d
}

// lookupCounted is lookup for a request whose sighting has been counted.
func (p *Proxy) lookupCounted(x *exchange) bool {
	if !p.relookup(x) {
		return false
	}
	e := selectedOf(x.entry())
	p.recount(x, &e)
	if x.heldBack {
		p.promote(x)
	}
	return true
}

// promote moves what answers x from the stage to the memory tier if the policy
// lets it in now. Under second-hit it always does: the stage remembers the first
// sighting, also when the filter no longer does.
func (p *Proxy) promote(x *exchange) { p.promoteEntry(x.route, x.verdict, x.entry(), x.countedKey) }

// promoteEntry is promote for e, whose fills go by a key.
func (p *Proxy) promoteEntry(r *route, v admission.Verdict, e *cache.Object, fillKey cache.Key) {
	if !r.Rule.Promotes(v.Admit) {
		return
	}
	if p.Store.Promote(e.Key(), e.Name(), r.Rule.Needs()) {
		size := e.Content().Size()
		// Written now, without a fill: the next one of the key is no regret.
		p.Gate.Filled(r.Rule, fillKey.Hi, fillKey.Lo, size, false)
		r.metrics.fills.promoted.Add(1)
		r.metrics.fills.promotedBytes.Add(size)
		if !r.Rule.Policy.Remembers() {
			r.metrics.fills.unjudged.Add(-1)
			r.metrics.fills.unjudgedBytes.Add(-size)
		}
	}
}

func (p *Proxy) findRoute(x *exchange) bool {
	n := len(x.scratch)
	x.scratch = wire.AppendPath(x.scratch, x.target.Path)
	x.path = x.scratch[n:]
	r := x.routeAt(x.path, x.routeMethod())
	if r == nil {
		return false
	}
	x.route, x.uses = r, r.uses
	return true
}

// dropIgnored forgets what the request asks for and the route takes no notice of.
func (x *routed) dropIgnored() {
	x.request.NoStore = x.request.NoStore && x.route.HonorNoStore
	x.asks.upgrade = x.asks.upgrade && x.route.Upgrades
}

// bypass says why the cache is not asked at all, None if it is. Such a request
// is no sighting.
func (x *routed) bypass() (reason.Reason, forward) {
	a := &x.asks
	switch {
	case !x.retrieves():
		return reason.Method, fwdMethod
	case a.body:
		return reason.RequestBody, fwdRequest
	case !x.route.Enabled:
		return reason.Bypass, fwdBypass
	case x.request.NoStore:
		return reason.RequestNoStore, fwdRequest
	case a.upgrade:
		return reason.Upgrade, fwdRequest
	case x.target.Ambiguous && !x.route.AllowAmbiguousPath:
		return reason.AmbiguousPath, fwdBypass
	case x.uses&usesBypass != 0 && x.bypasses():
		return reason.Bypass, fwdBypass
	case a.cookie && x.ambiguousCookies():
		return reason.AmbiguousCookie, fwdBypass
	}
	return reason.None, fwdNone
}

// lookupStored finds what is stored for x, fresh or stale, nil if nothing, and leaves x keyed
// as that is; x.fwd says how near it came. Of two responses it takes the latest, as RFC
// 9111 section 4 has it.
func (p *Proxy) lookupStored(x *exchange) *cache.Object {
	if x.rule == nil {
		return p.lookupKey(x)
	}
	x.keying = x.byRule
	e := p.lookupKey(x)
	if !p.Store.MayHold(x.exact.baseKey, x.exact.name[:x.exact.baseLen]) { // this is so as a rule
		return e
	}
	keying, fwd, heldBack := x.keying, x.fwd, x.heldBack
	x.keying = x.exact
	own := p.lookupKey(x)
	if x.onDisk && !x.mayReadDisk { // either may be there, and be later
		x.keying, x.fwd, x.heldBack = keying, fwd, false
		return nil
	}
	if own != nil && (e == nil || !originTime(e).After(originTime(own))) {
		return own
	}
	x.keying, x.fwd, x.heldBack = keying, fwd, heldBack
	return e
}

// originTime returns when the origin made e, or said last that it holds.
func originTime(e *cache.Object) time.Time { return e.ResponseTime().Add(-e.InitialAge()) }

// lookup finds a fresh entry for x and reports whether it may answer; x.fwd
// says why not.
func (p *Proxy) lookup(x *exchange) bool {
	e := p.lookupStored(x)
	if x.codingRefused = e != nil && e.Coded() && x.refusesStored(e); x.codingRefused {
		x.fwd, x.heldBack = fwdVaryMiss, false
		return false
	}
	if e == nil {
		x.wellBefore = x.fwd == fwdVaryMiss
		return false
	}
	age, policy := e.Age(x.start), e.Policy()
	use := policy.Use(age, x.request, x.route.HonorRequest)
	if use == rfc9111.UseAfterValidation {
		x.fwd, x.wellBefore = fwdStale, e.Status() < leastError
		if !x.heldBack && policy.Useful(age) {
			x.stale = e
		}
		return false
	}
	if x.asks.precondition {
		// Only the origin may evaluate If-Match (RFC 9110 section 13.2.1).
		x.fwd = fwdRequest
		return false
	}
	x.from, x.result, x.fwd = stored{e}, resultHit, fwdNone
	x.loaded = e
	if !rfc9111.Fresh(policy.Lifetime, age) {
		x.result, x.refresh = resultStale, use == rfc9111.UseNowAndRefresh
	}
	return true
}

// relookup is lookup once more, by the rule of now. A miss leaves x as its flight
// was keyed.
func (p *Proxy) relookup(x *exchange) bool {
	keying, byRule, rule := x.keying, x.byRule, x.rule
	p.keyByRule(x)
	if p.lookup(x) {
		return true
	}
	x.byRule, x.rule = byRule, rule
	if x.baseKey != keying.baseKey {
		x.keying, x.stale, x.heldBack = keying, nil, false
	}
	return false
}
