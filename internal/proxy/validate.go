package proxy

import (
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/proxy/internal/queryrules"
	"edgeproxy/internal/route/client"
)

// maxRefreshes bounds the validations in the background. While there are that many, further stale responses are not validated.
const maxRefreshes = 256

// renewBy304 renews the stored response by a 304 (RFC 9111 section 4.3.4) and returns it as the answer. It returns nil if the
// 304 is not about that response.
func (p *Proxy) renewBy304(j *job, resp *origin.Response, purged func() bool) *outcome {
	e := j.stale.Entry()
	from, ok := j.route.confirming(j.request, e, j.stale.Content().Size(), resp.Header)
	if !ok {
		return nil
	}
	before := e.Header
	updated, ok := rfc9111.Update(before, forAll(from, j.route))
	if !ok {
		return nil
	}
	if names, star := rfc9111.VaryNames(updated); star || !slices.Equal(names, e.Vary) {
		return nil // its key would be another
	}
	if !queryrules.Same(e.Header, updated) {
		return nil // its key would be another, too
	}
	addDate(&updated, resp)
	facts := responseFacts(resp)
	facts.Status, facts.Header = int(e.Status), updated
	v := rfc9111.Judge(j.facts, facts, j.route.Options)
	e.Serial = p.serial.Add(1)
	e.Born, e.Tags = j.born, p.renewedTags(j, resp.Header, updated)
	updated = withOneCacheStatus(rfc9111.EndToEnd(updated))
	e.Header = storedFields(updated, v.Strip, j.route)
	e.ResponseTime = resp.ResponseTime
	e.InitialAge = rfc9111.InitialAge(resp.Header, resp.RequestTime, resp.ResponseTime)
	v.Policy.TagWeakened = e.Policy.TagWeakened
	e.Policy = v.Policy
	p.renew(j, e, v.Why, p.purgedCheck(j, e, purged))
	h := &outcome{resp: resp, held: cache.NewObject(e), as: resultRevalidated, status: resp.Status, cookie: resp.Header.Has("Set-Cookie")}
	if own, differs := askers(before, from, updated, j.route); differs || len(v.Strip) > 0 {
		addDate(&own, resp)
		one := *e
		one.Serial, one.Header = p.serial.Add(1), storedFields(own, nil, j.route)
		h.own = cache.NewObject(&one)
	}
	return h
}

// forAll returns the fields of a 304 without those that are for the client alone that has asked.
func forAll(from field.List, r *route) field.List {
	personal := func(name string) bool { return rfc9111.ForOneClient(name, r.SetCookie) }
	if !slices.ContainsFunc(from, func(f field.Field) bool { return personal(f.Name) }) {
		return from
	}
	return from.Without(personal)
}

// askers returns the fields for the client that has asked: what is stored, updated by the whole 304. They differ from those for all
// if the 304 has fields for that client alone.
func askers(stored, from, updated field.List, r *route) (own field.List, differs bool) {
	if len(forAll(from, r)) == len(from) {
		return updated, false
	}
	own, _ = rfc9111.Update(stored, from)
	return withOneCacheStatus(rfc9111.EndToEnd(own)), true
}

// addDate says when resp came, where it did not.
func addDate(fields *field.List, resp *origin.Response) {
	if !fields.Has("Date") {
		fields.Add("Date", httpDate(resp.ResponseTime))
	}
}

// renew replaces the stored response by the renewed one, or removes it if it may no longer be stored.
func (p *Proxy) renew(j *job, e *cache.Entry, why reason.Reason, purged func() bool) {
	switch why {
	case reason.None:
		p.Store.Renew(e, j.stale.Serial(), purged)
	case reason.Authorization, reason.NoFreshness, reason.RequestCookie:
		// What this client may have, or what was found for a request with a cookie,
		// says nothing of what the others may: it stays as it was.
	default:
		p.Store.Purge(e.URL, e.Name[:e.URLLen])
	}
}

// answerFrom makes the stored response in h the answer of x. asked says that the origin has sent its 304 to the request of x.
func (x *exchange) answerFrom(h *outcome, asked bool) {
	x.from, x.result = stored{h.held}, h.as
	if asked && h.own != nil {
		x.from = stored{h.own}
	}
	x.fwdStatus, x.answered = h.status, h.resp
	x.waited = now().Sub(x.start)
	if h.as == resultStale {
		x.reason, x.fwd = h.why, fwdNone
	}
}

// refresh validates the stale answer of x in the background (RFC 5861 section 3), unless that is
// under way already.
func (p *Proxy) refresh(x *exchange) {
	p.refreshBy(x, x.key, func() *fill { return p.newRefresh(x, x.entry()) })
}

// refreshBy runs the fill that newFill makes by a flight for key.
func (p *Proxy) refreshBy(x *exchange, key cache.Key, newFill func() *fill) {
	done, ok := p.acquireRefresh(x)
	if !ok {
		return
	}
	r, leads := p.flights.Join(key, x.urlKey, flight.Admission{Leading: true, Following: true, Client: x.who})
	if !leads {
		_ = r.Close()
		done()
		return
	}
	begun := false
	defer func() {
		if !begun { // a panic
			r.Abandon()
			done()
		}
	}()
	f := newFill()
	begun = true
	if !p.flights.Go(r, func(to *inflight) { defer done(); f.run(to) }, p.panicked) {
		done()
	}
	_ = r.Close()
}

// acquireRefresh takes a slot among the validations in the background; done gives it back. The client of x has caused it, so its
// connection to the origin counts for that client.
func (p *Proxy) acquireRefresh(x *exchange) (done func(), ok bool) {
	x.who, _ = client.Of(x.ClientAddress())
	who, n := x.who, p.refreshing.Add(1)
	if n > maxRefreshes || !p.refreshes.acquire(who, n-1, maxRefreshes) {
		p.refreshing.Add(-1)
		return nil, false
	}
	return func() {
		p.refreshes.release(who)
		p.refreshing.Add(-1)
	}, true
}

// newRefresh returns a fill that validates e and may outlive the request of x. It sends no credentials but those in the key and
// those that the route matches, and has copies of the fields that select a variant.
func (p *Proxy) newRefresh(x *exchange, e *cache.Object) *fill {
	x.stale = e
	f := p.newShared(x)
	j := &f.job
	j.request.Method, j.facts.Method = "GET", "GET"
	j.sighted = false // ours
	vary := e.Vary()
	withheld := func(name string) bool {
		return (name == "Authorization" || name == "Cookie") && !x.route.Key.Reads(name) && !x.route.GoesBy(name) && !slices.Contains(vary, name) && x.route.Request.Value(name) == nil
	}
	j.facts.Authorization = j.facts.Authorization && !withheld("Authorization")
	j.facts.Cookie = j.facts.Cookie && !withheld("Cookie")
	j.outlive(x, withheld)
	j.request.Header = j.request.Header.Without(withheld)
	x.stale, f.refresh = nil, true
	return f
}

// outlive gives j copies of the fields that select a variant, without those that drop names, so that j can outlive the request
// of x.
func (j *job) outlive(x *exchange, drop func(name string) bool) {
	j.asker, j.selecting = nil, x.endToEndFields(drop)
}
