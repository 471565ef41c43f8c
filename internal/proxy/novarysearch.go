package proxy

import (
	"bytes"
	"time"

	"edgeproxy/internal/alike"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
	"edgeproxy/internal/flight"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
)

// This file finds a response by a query that means the same as its own
// (draft-ietf-httpbis-no-vary-search).
//
// A response is stored under the key that it asks for itself. That is the key by its own rule
// if the table of rules knows the rule, else the exact key of its target. So what is found
// under the key of a rule has that rule, even if the table has another one by now.
//
// A parameter that a rule drops may have shaped a response all the same, by mistake or
// because a client meant it to. So a request that is keyed by a rule asks the origin without
// what the rule drops: for the one target that stands for all targets with this key. What is
// keyed is what is forwarded. Only a response to such a request is stored under the key of its
// rule. Any other response answers its own target alone.

// keyByRule keys x by the rule of its path, if there is one.
func (p *Proxy) keyByRule(x *exchange) {
	rule := p.ruleFor(x)
	if rule == x.rule {
		return
	}
	x.rule, x.keying = rule, x.exact
	if rule != nil {
		x.byRule = p.keyingFor(x, rule)
		x.keying = x.byRule
	}
}

func (p *Proxy) ruleFor(x *exchange) *alike.Rule {
	if x.exactOnly || !x.route.NoVarySearch || p.queryRules.Empty() {
		return nil
	}
	return p.queryRules.Rule(p.pathOf(x.resource()), x.start)
}

// pathOf returns the hash of u without its query.
func (p *Proxy) pathOf(u purge.URL) uint64 {
	path, _, _ := bytes.Cut(u.Target, []byte("?"))
	return p.queryRules.Path(u.Host, path)
}

// keyingFor builds in scratch the key of x by a rule. It allocates only for a long query.
func (p *Proxy) keyingFor(x *exchange, rule *alike.Rule) keying {
	var k keying
	x.scratch, k = appendAlike(x.scratch, x.resource(), rule, x.exact.selectors())
	return p.sum(k)
}

// sum completes k, the key of a base.
func (p *Proxy) sum(k keying) keying {
	base := k.name
	k.url = p.Hasher.Sum(base[:k.urlLen])
	k.base = k.url
	if k.urlLen < k.baseLen {
		k.base = p.Hasher.Sum(base)
	}
	k.key = k.base
	return k
}

// appendAlike appends the key of all that means the same as u by a rule, the URL part
// and the selectors, which it returns too, without hashes. In dst the query comes
// before it.
func appendAlike(dst []byte, u purge.URL, rule *alike.Rule, selectors []byte) ([]byte, keying) {
	path, query, _ := bytes.Cut(u.Target, []byte("?"))
	n := len(dst)
	dst = rule.AppendQuery(dst, query)
	query, n = dst[n:], len(dst)
	dst = wire.AppendSearchKey(dst, u.Scheme, u.Host, path, rule.Number, query)
	k := keying{urlLen: len(dst) - n}
	dst = append(dst, selectors...)
	k.name, k.baseLen = dst[n:], len(dst)-n
	return dst, k
}

// lookupStored finds what is stored for x, fresh or stale, nil if nothing, and leaves x keyed
// as that is; x.fwd says how near it came. Of two responses it takes the latest, as RFC
// 9111 section 4 has it.
func (p *Proxy) lookupStored(x *exchange) *cache.Entry {
	if x.rule == nil {
		return p.lookupKey(x)
	}
	x.keying = x.byRule
	e := p.lookupKey(x)
	if !p.Store.Holds(x.exact.base) { // as a rule
		return e
	}
	keying, fwd, heldBack := x.keying, x.fwd, x.heldBack
	x.keying = x.exact
	own := p.lookupKey(x)
	if own != nil && (e == nil || !made(e).After(made(own))) {
		return own
	}
	x.keying, x.fwd, x.heldBack = keying, fwd, heldBack
	return e
}

// made returns when the origin made e, or said last that it holds.
func made(e *cache.Entry) time.Time { return e.ResponseTime.Add(-e.InitialAge) }

// relookup is lookup once more, by the rule of now. A miss leaves x as its flight
// was keyed.
func (p *Proxy) relookup(x *exchange) bool {
	keying, alike, rule := x.keying, x.byRule, x.rule
	p.keyByRule(x)
	if p.lookup(x) {
		return true
	}
	x.byRule, x.rule = alike, rule
	if x.base != keying.base {
		x.keying, x.stale, x.heldBack = keying, nil, false
	}
	return false
}

// followOwn takes a seat in a flight for the exact target of x, if there is one: it began
// before the rule of the path was known, or the rule does not hold for its request.
func (p *Proxy) followOwn(x *exchange, admit bool) *reader {
	if x.rule == nil || x.redirected || x.base == x.exact.base {
		return nil
	}
	r, _ := p.flights.Follow(x.exact.key, flight.Admission{Following: admit, Client: x.who})
	return r
}

// keyContext is what a job needs to know where its response belongs.
type keyContext struct {
	exact     keying    // its bytes are the job's
	flightURL cache.Key // by which purges find its flight
	path      uint64
	forgotten uint64 // of the path, when the job began
	moved     bool   // the response belongs elsewhere than purges look for the job
}

// keyContextOf returns that of x, for the job j.
func (p *Proxy) keyContextOf(x *exchange, j *job) keyContext {
	f := keyContext{exact: x.exact, flightURL: x.url, path: p.pathOf(j.resource)}
	f.exact.name = bytes.Clone(x.exact.name[:x.exact.baseLen])
	f.forgotten = p.queryRules.Forgotten(f.path)
	return f
}

// storageKey returns the key that a response to j asks for, and the rule if it is by one. It
// teaches the table what the response says.
func (p *Proxy) storageKey(j *job, resp *origin.Response) (keying, *alike.Rule) {
	home, rule := j.exact, (*alike.Rule)(nil)
	if j.facts.Method == "GET" && j.route.NoVarySearch {
		rule = p.learn(j, resp.Header, resp.ResponseTime, &home)
	}
	j.moved = home.url != j.flightURL
	return home, rule
}

// newShared is newFill for a fetch that others may share. Where x is keyed by a rule for
// queries the job asks for the target in the form that all have who share that key: the
// whole job is about that target then, and not about that of x.
func (p *Proxy) newShared(x *exchange) *fill {
	f := p.newFill(x, true)
	if x.keyedExactly() {
		return f
	}
	j := &f.job
	j.by = x.rule
	j.resource.Target = x.rule.AppendTarget(nil, j.resource.Target)
	j.request.Target = string(j.resource.Target)
	name := wire.AppendKey(nil, j.resource.Scheme, j.resource.Host, j.resource.Target)
	k := keying{urlLen: len(name)}
	k.name = append(name, x.exact.selectors()...)
	k.baseLen = len(k.name)
	j.exact = p.sum(k)
	if x.stale != nil {
		j.validate(x.stale)
	}
	return f
}

// keyedExactly reports whether x is keyed by its target, and not by a rule for queries.
func (x *exchange) keyedExactly() bool { return x.rule == nil || x.base == x.exact.base }

// unlike returns the target that the origin was asked for, where that was made by a rule
// that the response does not have: then it answers that target, and says nothing of others.
// Else it returns "".
func unlike(j *job, resp *origin.Response) string {
	if j.by == nil {
		return ""
	}
	if v, ok := rfc9111.ParseNoVarySearch(resp.Header); ok && j.by.Says(v) {
		return ""
	}
	return j.request.Target
}

// answersOther reports whether h, which x has had fetched, is the response to another
// target than that of x.
func (h *outcome) answersOther(x *exchange) bool { return h.only != "" && h.only != string(x.keyed) }

// dropQueryRule has x go on as if its path had no rule.
func (x *exchange) dropQueryRule() {
	x.keying, x.rule, x.exactOnly, x.redirected, x.stale = x.exact, nil, true, true, nil
}

// learn returns the rule of a response to j, nil if it has none that holds, and sets
// home.
func (p *Proxy) learn(j *job, h field.List, at time.Time, home *keying) *alike.Rule {
	v, ok := rfc9111.ParseNoVarySearch(h)
	if !ok {
		p.queryRules.Disown(j.path)
		return nil
	}
	rule, taught := p.queryRules.Learn(j.path, v, at)
	if rule == nil {
		return nil
	}
	_, k := appendAlike(nil, j.resource, rule, j.exact.selectors())
	k = p.sum(k)
	if taught {
		// The next request goes by the rule, so the sighting of this one does too.
		p.Gate.SightAlso(j.route.Rule, j.verdict, k.url.Hi, k.url.Lo)
	}
	if string(rule.AppendTarget(nil, j.resource.Target)) != string(j.resource.Target) {
		return nil // what the rule drops may have shaped it
	}
	*home = k
	if taught {
		j.url = home.url
	}
	return rule
}

// purgeRaced reports whether a URL of the path was forgotten since j began, by someone who
// did not know where the response would belong.
func (p *Proxy) purgeRaced(j *job) bool {
	return j.moved && p.queryRules.Forgotten(j.path) != j.forgotten
}

// baseFor returns the key before Vary by which x would have the response that h is
// about; nil if none.
func (p *Proxy) baseFor(x *exchange, h *outcome) []byte {
	switch _, part := wire.SearchKey(h.selected().Name); {
	case part == nil:
		return x.exact.name[:x.exact.baseLen]
	case h.rule != nil:
		return p.keyingFor(x, h.rule).name
	case x.rule != nil: // stored before, and found by the rule of the flight
		return x.byRule.name[:x.byRule.baseLen]
	}
	return nil
}

// redirectFlight sends x from a flight whose response is not its own on to another: that of
// its variant, or of its own target.
func (p *Proxy) redirectFlight(x *exchange, h *outcome) {
	e := h.selected()
	x.redirected, x.renews = true, false
	_, byRule := wire.SearchKey(e.Name)
	mine := string(p.baseFor(x, h)) == string(e.Name[:e.URLLen])
	switch {
	case !mine, byRule == nil:
		x.keying, x.rule, x.exactOnly = x.exact, nil, true
	case h.rule != nil && h.rule != x.rule: // learned meanwhile
		x.rule, x.byRule = h.rule, p.keyingFor(x, h.rule)
		x.keying = x.byRule
	}
	if mine {
		x.selectVariant(p, e.Vary)
		p.recount(x, nil)
	}
}

// sameSearch reports whether two headers have the same No-Vary-Search.
func sameSearch(a, b field.List) bool {
	v, _ := rfc9111.ParseNoVarySearch(a)
	w, _ := rfc9111.ParseNoVarySearch(b)
	return v.Equal(&w)
}

// markURL leaves a mark for u, and in the same purge for all that means the same. A
// rule that changes meanwhile gets another: what is stored by it then is either
// younger, or not stored (purgeRaced).
func (p *Proxy) markURL(u purge.URL, soft bool) {
	path := p.pathOf(u)
	for rule := p.queryRules.Forget(path); ; {
		if rule == nil {
			p.Purges.URL(u, soft)
		} else {
			_, k := appendAlike(nil, u, rule, nil)
			p.Purges.URL(u, soft, purge.URL{Scheme: u.Scheme, Host: u.Host, Target: k.name})
		}
		now := p.queryRules.Forget(path)
		if now == rule {
			return
		}
		rule = now
	}
}

// markPrefix leaves a mark for what begins with u. Where u ends in the query it also
// takes all of the path that is stored by a rule: such a response answers many queries, and
// some of them may begin like that.
func (p *Proxy) markPrefix(u purge.URL, soft bool) {
	path, _, inQuery := bytes.Cut(u.Target, []byte("?"))
	if !inQuery {
		p.Purges.Prefix(u, soft)
		return
	}
	at := wire.AppendSearchPath(nil, u.Scheme, u.Host, path)
	p.Purges.Prefix(u, soft, purge.URL{Scheme: u.Scheme, Host: u.Host, Target: at})
}

// purgedSince returns what the purges have made of e, which is found or stored for u.
// What is stored by a rule is also reached by those of its other URLs.
func (p *Proxy) purgedSince(e *cache.Entry, u purge.URL) purge.State {
	s := p.Purges.Check(e.Born, u, e.Tags)
	path, whole := wire.SearchKey(e.Name)
	if whole == nil || s == purge.Gone {
		return s
	}
	u.Target = path
	s = max(s, p.Purges.Check(e.Born, u, nil))
	u.Target = whole
	return max(s, p.Purges.Check(e.Born, u, nil))
}
