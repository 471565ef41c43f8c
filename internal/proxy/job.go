package proxy

import (
	"bytes"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/queryrules"
	"edgeproxy/internal/rfc9111"
)

// job is one fetch: what to ask, and what is needed to judge and store the
// answer after the request is gone.
type job struct {
	settings *settings
	route    *route
	request  *origin.Request
	facts    rfc9111.RequestFacts
	url      cache.Key // by which its fill goes: that of its sighting, or of a part of it
	sighting

	keyContext // where the response belongs

	// by is the rule for queries by which the target was made that the origin is asked
	// for; nil is the client's own target.
	by *queryrules.Rule

	// base is the hash of baseName, the key before Vary.
	base     cache.Key
	baseName []byte

	// span is the part of the representation that is asked for, with a place to keep
	// it; nil asks for the whole.
	span *span

	// resource names the same URL for purges, and born is their generation before the
	// origin was asked: what it answers is reached by those that come after.
	resource purge.URL
	born     uint64

	// stale is what the origin is asked to confirm; nil for a plain fetch.
	// directives are the request's, which may forbid to use it stale.
	stale      *cache.Entry
	asked      *cache.Entry // stale, also when it has turned out to be of no use
	spare      *cache.Entry // what may stand in for a failure: asked, or what is stale and was not asked about
	directives rfc9111.RequestDirectives

	// interims are those of a flight's fetch whose leader is told; nil otherwise.
	interims interims

	// variant returns base, the key before Vary of the whole or a part, with what the
	// request selects by names; base stays as it is. It reads the request, so it may
	// be called only until the header is published.
	variant func(base []byte, names []string) []byte
}

// newFill copies what the fetch for x needs. keep says that the response may be
// stored or shared: then Range and conditions stay here, for the result.
func (p *Proxy) newFill(x *exchange, keep bool) *fill {
	drop := nothing
	if keep {
		drop, x.onResult = forKeeps, true
	}
	f := &fill{p: p, job: job{
		settings: x.settings, route: x.route, request: p.originRequest(x, drop),
		facts: rfc9111.RequestFacts{
			Method: string(x.method), NoStore: x.request.NoStore,
			Authorization: x.asks.authorization, Cookie: x.asks.cookie,
		},
		url: x.demand, sighting: x.sighting, base: x.base, born: p.Purges.Now(), directives: x.request,
	}}
	j := &f.job
	if !x.asks.precondition {
		j.spare = x.stale
	}
	if keep && x.stale != nil && x.keyedExactly() {
		j.validate(x.stale)
	}
	if x.baseLen > 0 {
		j.resource = purge.URL{Scheme: x.scheme, Host: bytes.Clone(x.host), Target: bytes.Clone(x.keyed)}
		j.baseName = bytes.Clone(x.name[:x.baseLen])
		j.variant = func(base []byte, names []string) []byte {
			return x.appendVariant(bytes.Clone(base), names)
		}
		j.keyContext = p.keyContextOf(x, j)
	}
	return f
}

// validate makes j ask whether e is still the response to send (RFC 9111 section
// 4.3.1). The client's own conditions have been left out.
func (j *job) validate(e *cache.Entry) {
	j.stale, j.asked, j.spare = e, e, e
	for _, f := range rfc9111.ValidationFields(e.Header, e.ResponseTime) {
		j.request.Header.Add(f.Name, f.Value)
	}
}

// plain makes j ask for the whole response.
func (j *job) plain() {
	j.stale = nil
	j.request.Header = j.request.Header.Without(func(name string) bool {
		return name == "If-None-Match" || name == "If-Modified-Since"
	})
}

// originRequest is the request as the origin gets it: the target and host that
// were keyed, the client's own end-to-end fields but those taken for keyed ones, and what we say of the client.
func (p *Proxy) originRequest(x *exchange, drop func(name string) bool) *origin.Request {
	host := string(x.host)
	r := &origin.Request{
		Method: string(x.method), Target: string(x.forwarded()), Host: host, Client: x.who,
		Header: x.endToEndFields(drop),
	}
	if x.route.HostHeader != "" {
		r.Host = x.route.HostHeader
	}
	if addresses := x.forwardedFor(); addresses != "" {
		r.Header.Add("X-Forwarded-For", addresses)
	}
	r.Header.Add("X-Forwarded-Proto", x.scheme)
	r.Header.Add("X-Forwarded-Host", host)
	r.Header.Add("Via", x.passed("Via", p.via))
	r.Header.Add(headerCDNLoop, x.passed(headerCDNLoop, p.loop))
	p.ownBody(x, r)
	return r
}
