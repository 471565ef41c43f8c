package proxy

import (
	"bytes"
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
)

// keying is one canonical key of a request and its hashes. It is the URL part, by
// whose hash flights and purges go; then what the rules of the route select by, which
// makes the base; then for a variant the Vary part.
type keying struct {
	name            []byte
	urlLen, baseLen int
	url, base       cache.Key // the hashes of the first parts
	key             cache.Key // of name

	vary    []string // the fields that the Vary part is made of; nil: there is none
	guessed bool     // they are what the last response said, of which nothing is stored
}

// selectors returns what the rules of the route have added behind the URL part.
func (k *keying) selectors() []byte { return k.name[k.urlLen:k.baseLen] }

// completeKey completes k, the key of a base.
func (p *Proxy) completeKey(k keying) keying {
	base := k.name
	k.url = p.Hasher.Sum(base[:k.urlLen])
	k.base = k.url
	if k.urlLen < k.baseLen {
		k.base = p.Hasher.Sum(base)
	}
	k.key = k.base
	return k
}

// keyURL builds the key of x before Vary, by the rules of its route: the target that
// is keyed, in its normal form, the URL part, and behind that what header and cookie rules select by.
func (x *exchange) keyURL(hasher cache.Hasher) {
	rules := x.route.Key
	n := len(x.scratch)
	x.scratch = rules.AppendTarget(x.scratch, x.target.Normal)
	x.keyed = x.scratch[n:]
	n = len(x.scratch)
	x.scratch = wire.AppendKey(x.scratch, x.scheme, x.host, x.keyed)
	x.url = hasher.Sum(x.scratch[n:])
	x.urlLen = len(x.scratch) - n
	x.base = x.url
	if rules.Selects() {
		x.scratch = rules.AppendSelectors(x.scratch, x.forwardedLines)
		x.base = hasher.Sum(x.scratch[n:])
	}
	x.name = x.scratch[n:]
	x.baseLen, x.key = len(x.name), x.base
	x.exact, x.demand = x.keying, x.url
}

// forwarded returns the target that the origin gets, before it is rewritten. Where the cache may answer, that is what is keyed: nothing
// else may have a say in the answer that others get. What passes the cache by keeps the client's spelling, which a signature may cover,
// unless it is rewritten: prefixes are those of the normal form. But no GET or HEAD has parameters that are not keyed.
func (x *exchange) forwarded() []byte {
	target := x.target.Raw
	if x.route.Rewrite != nil {
		target = x.target.Normal
	}
	switch {
	case x.answerable:
		return x.keyed
	case !x.retrieves():
		return target
	}
	n := len(x.scratch)
	x.scratch = x.route.Key.AppendTarget(x.scratch, target)
	return x.scratch[n:]
}

// resource is what x is about in the words of purges.
func (x *exchange) resource() purge.URL {
	return purge.URL{Scheme: x.scheme, Host: x.host, Target: x.keyed}
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

// KeyableHeader reports whether the request field of this canonical name reaches
// origins as the client sent it, so that a rule may select by it.
func KeyableHeader(name string) bool {
	return !isWrittenByUs(name) && !rfc9111.HopByHop(name) && !dropRangeAndConditions(name) && !precondition(name)
}
