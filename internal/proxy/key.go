package proxy

import (
	"bytes"
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/queryrules"
)

// keying is one canonical key of a request and its hashes. It is the URL part, by
// whose hash flights and purges go; then what the rules of the route select by, which
// makes the base; then for a variant the Vary part.
type keying struct {
	name            []byte
	urlLen, baseLen int
	urlKey, baseKey cache.Key // the hashes of the first parts
	key             cache.Key // the hash of name

	vary    []string // the fields that the Vary part is made of; nil: there is none
	guessed bool     // they are what the last response said, of which nothing is stored
}

// selectors returns what the rules of the route have added behind the URL part.
func (k *keying) selectors() []byte { return k.name[k.urlLen:k.baseLen] }

// completeKey completes k, whose name ends with the base.
func (p *Proxy) completeKey(k keying) keying {
	k.urlKey = p.Hasher.Sum(k.name[:k.urlLen])
	k.baseKey = k.urlKey
	if k.urlLen < k.baseLen {
		k.baseKey = p.Hasher.Sum(k.name)
	}
	k.key = k.baseKey
	return k
}

// keyURL builds the key of x before Vary, by the rules of its route: the target that
// is keyed, in its normal form, the URL part, and behind that what header and cookie rules select by.
func (x *exchange) keyURL(hasher cache.Hasher) {
	rules := x.route.Key
	n := len(x.scratch)
	x.scratch = rules.AppendTarget(x.scratch, x.target.Normal)
	x.keyedTarget = x.scratch[n:]
	n = len(x.scratch)
	x.scratch = wire.AppendKey(x.scratch, x.scheme, x.host, x.keyedTarget)
	x.urlKey = hasher.Sum(x.scratch[n:])
	x.urlLen = len(x.scratch) - n
	x.baseKey = x.urlKey
	if rules.Selects() {
		x.scratch = rules.AppendSelectors(x.scratch, x.forwardedLines)
		x.baseKey = hasher.Sum(x.scratch[n:])
	}
	x.name = x.scratch[n:]
	x.baseLen, x.key = len(x.name), x.baseKey
	x.exact, x.countedKey = x.keying, x.urlKey
}

// forwarded returns the target that the origin gets, before it is rewritten. Where the cache may answer, that is what is keyed: nothing
// else may have a say in the answer that others get. What passes the cache by keeps the client's spelling, which a signature may cover,
// unless it is rewritten: prefixes are those of the normal form. But no GET or HEAD has parameters that are not keyed.
func (x *routed) forwarded() []byte {
	target := x.target.Raw
	if x.route.Rewrite != nil {
		target = x.target.Normal
	}
	switch {
	case x.answerable:
		return x.keyedTarget
	case !x.retrieves():
		return target
	}
	n := len(x.scratch)
	x.scratch = x.route.Key.AppendTarget(x.scratch, target)
	return x.scratch[n:]
}

// resource is what x is about in the words of purges.
func (x *routed) resource() purge.URL {
	return purge.URL{Scheme: x.scheme, Host: x.host, Target: x.keyedTarget}
}

// resources are what GETs for target at host may be about: one for each form in which a route keys
// the target. Selects says that their URL parts alone do not find all that is stored for it, or for
// another URL with the same part: that of a route by a parameter which its key lacks.
func (p *Proxy) resources(scheme string, host []byte, target wire.Target) (out []purge.URL, selects bool) {
	routes := p.settings.Load().routes
	for _, r := range routesOf(routes, scheme, host, target) {
		out = addResource(out, purge.URL{Scheme: scheme, Host: host, Target: r.Key.AppendTarget(nil, target.Normal)})
		selects = selects || r.SliceBytes > 0
	}
	for _, r := range routesOfPath(routes, scheme, host, target) {
		selects = selects || r.Key.Selects()
	}
	if out == nil { // stored when there was a route
		out = []purge.URL{{Scheme: scheme, Host: host, Target: target.Normal}}
	}
	return out, selects
}

// prefixes are what resources begin with whose target begins with that of target, which may end within a
// parameter. So no route of the path is ruled out by its query.
func (p *Proxy) prefixes(scheme string, host []byte, target wire.Target) (out []purge.URL) {
	for _, r := range routesOfPath(p.settings.Load().routes, scheme, host, target) {
		out = addResource(out, purge.URL{Scheme: scheme, Host: host, Target: r.Key.Prefix(target.Normal)})
	}
	if out == nil {
		out = []purge.URL{{Scheme: scheme, Host: host, Target: target.Normal}}
	}
	return out
}

// addResource adds u, whose scheme and host are those of all, unless it is there.
func addResource(all []purge.URL, u purge.URL) []purge.URL {
	if slices.ContainsFunc(all, func(other purge.URL) bool { return bytes.Equal(other.Target, u.Target) }) {
		return all
	}
	return append(all, u)
}

// What follows finds a response by a query that means the same as its own
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
	var rule *queryrules.Rule
	if !x.exactOnly && x.route.NoVarySearch && !p.queryRules.Empty() {
		rule = p.queryRules.Rule(p.pathOf(x.resource()), x.start)
	}
	if rule == x.rule {
		return
	}
	x.rule, x.keying = rule, x.exact
	if rule != nil {
		x.byRule = p.keyingFor(x, rule)
		x.keying = x.byRule
	}
}

// pathOf returns the hash of u without its query.
func (p *Proxy) pathOf(u purge.URL) uint64 { return p.queryRules.Path(u.Host, u.Target) }

// keyingFor builds in scratch the key of x by a rule. It allocates only for a long query.
func (p *Proxy) keyingFor(x *exchange, rule *queryrules.Rule) keying {
	var k keying
	x.scratch, k = appendByRule(x.scratch, x.resource(), rule, x.exact.selectors())
	return p.completeKey(k)
}

// appendByRule appends the key of all targets that mean the same as that of u by a rule: the
// URL part and the selectors. It returns it too, without hashes.
func appendByRule(dst []byte, u purge.URL, rule *queryrules.Rule, selectors []byte) ([]byte, keying) {
	dst, url := rule.AppendKey(dst, u.Scheme, u.Host, u.Target)
	n := len(dst) - len(url)
	dst = append(dst, selectors...)
	return dst, keying{name: dst[n:], urlLen: len(url), baseLen: len(dst) - n}
}

// keyContext is what a job needs to know where its response belongs.
type keyContext struct {
	exact     keying    // its bytes are the job's
	urlKey    cache.Key // purges find its flight by this
	path      uint64
	forgotten uint64 // how often the path was forgotten, when the job began
	moved     bool   // the response belongs elsewhere than purges look for the job
}

// keepContext sets that of x, for the job j, which has the exact key.
func (p *Proxy) keepContext(x *exchange, j *job) {
	j.urlKey, j.path = x.urlKey, p.pathOf(j.resource)
	j.forgotten = p.queryRules.Forgotten(j.path)
}

// storageKey returns the key that a response to j asks for, and the rule if it is by one. It
// teaches the table what the response says.
func (p *Proxy) storageKey(j *job, resp *origin.Response) (home keying, by *queryrules.Rule) {
	home = j.exact
	if j.facts.Method == "GET" && j.route.NoVarySearch {
		by = p.learnQueryRule(j, resp, &home)
	}
	j.moved = home.urlKey != j.urlKey
	return home, by
}

// learnQueryRule tells the table what a response to j says. It returns the rule by which the response is
// stored, and sets home to its key; nil if it is stored by none.
func (p *Proxy) learnQueryRule(j *job, resp *origin.Response, home *keying) *queryrules.Rule {
	said := p.queryRules.Teach(j.path, j.resource.Target, resp.Header, resp.ResponseTime)
	if said.Rule == nil {
		return nil
	}
	_, k := appendByRule(nil, j.resource, said.Rule, j.exact.selectors())
	k = p.completeKey(k)
	if said.New {
		// The next request goes by the rule, so the sighting of this one does too.
		p.Gate.SightAlso(j.route.Rule, j.verdict, k.urlKey.Hi, k.urlKey.Lo)
	}
	if !said.Covers {
		return nil
	}
	*home = k
	if said.New {
		j.fillKey = k.urlKey
	}
	return said.Rule
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
	j.queryRule = x.rule
	j.resource.Target = x.rule.AppendTarget(nil, j.resource.Target)
	j.request.Target = string(x.atOrigin(j.resource.Target))
	j.makeAnew(x, j.resource.Target)
	name := wire.AppendKey(nil, j.resource.Scheme, j.resource.Host, j.resource.Target)
	k := keying{urlLen: len(name)}
	k.name = append(name, x.exact.selectors()...)
	k.baseLen = len(k.name)
	j.exact = p.completeKey(k)
	if x.stale != nil {
		j.validate(x.stale)
	}
	return f
}

// keyedExactly reports whether x is keyed by its target, and not by a rule for queries.
func (x *routed) keyedExactly() bool { return x.rule == nil || x.baseKey == x.exact.baseKey }
