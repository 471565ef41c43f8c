package proxy

import (
	"errors"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/route/cachekey"
)

// This file answers an operator who asks what would become of a request. It goes the way of decide, with look-ups that leave no
// trace: no sighting is counted, and nothing stays longer in the cache for having been looked at.

// Question is a request that nobody has made. Fields that are not given are those of a client that sends none.
type Question struct {
	Method string // GET or HEAD, if the cache is to be asked
	URL    string // absolute
	Fields field.List
}

// Inspection is what is known of a Question. What is stored belongs to the cache.
type Inspection struct {
	Route  string // "": none matches, and all below is empty
	Policy string
	Origin string // the origin that the route asks, "" if it answers itself

	// Itself says that the route answers itself, without cache and origin; the rest is empty then.
	Itself bool

	// Why says that the cache is not asked at all; None: it is. The rest is empty then.
	Why reason.Reason

	// Name is the canonical key that was looked for last, and URLName its part before Vary. Key is the hash of Name, and Counted that by
	// which the request is counted.
	Name, URLName []byte
	Key, Counted  cache.Key
	Vary          []string

	// Sightings are those within the window, and Verdict is what admission would say of the next one. Remembers says that the policy
	// remembers sightings at all.
	Sightings int
	Remembers bool
	Verdict   admission.Verdict

	// Variants are those of the URL that are stored, whichever request fields select them; the Object may be one of them.
	Variants []Variant

	// Object is what is stored, nil for nothing, with a purge that has reached it. What is Gone is removed when a request asks for it.
	// Part says that it is the first part that is stored of a large one.
	Object *cache.Object
	In     cache.Place
	Purged purge.State
	Part   bool
	// TagNames are the names of its tags, as far as they are known.
	TagNames []string
	// Use is what the object is good for at this moment, without a purge.
	Use rfc9111.Use
}

// Variant is a stored response that request fields select.
type Variant struct {
	Object *cache.Object
	In     cache.Place
	Purged purge.State
}

// Errors of Inspect: what is wrong with a Question.
var (
	ErrInspectMethod = errors.New("must be a method such as GET or HEAD")
	ErrInspectField  = errors.New("must be header fields with a name and a value, such as Accept-Language: de")
)

// Inspect says what would become of a request now. It counts no sighting and keeps nothing from being evicted. It may wait for the disk.
// release is to be called when nobody looks at the Object any more. An error says what is wrong with q. It is safe for concurrent use.
func (p *Proxy) Inspect(q Question) (in Inspection, release func(), err error) {
	x, err := p.exchangeFor(q)
	if err != nil {
		return in, nil, err
	}
	release = func() {}
	if !p.findRoute(x) {
		in.Why = reason.NoRoute
		return in, release, nil
	}
	x.dropIgnored()
	x.applyRules()
	in.Route, in.Policy, in.Remembers = x.route.Name, x.route.Rule.Policy.String(), x.route.Rule.Policy.Remembers()
	if x.route.Origin != nil {
		in.Origin = x.route.Origin.Name()
	}
	in.Why, _ = x.bypass()
	if in.Itself = x.route.answer != nil; in.Itself || in.Why != reason.None {
		return in, release, nil
	}
	x.answerable = true
	x.keyURL(p.Hasher)
	if rule := p.queryRules.Peek(p.pathOf(x.resource())); rule != nil && x.route.NoVarySearch {
		x.rule = rule
		x.byRule = p.keyingFor(x, rule)
	}
	x.countedKey = x.urlKey
	if o := p.inspectStored(x, &in); o != nil {
		in.Object = o
		in.TagNames = p.tagNames(o, x.resource(), x.route)
		in.Purged = p.purgedSince(o.Name(), o.Born(), o.Tags(), x.resource())
		policy := o.Policy()
		in.Use = policy.Use(o.Age(x.start), x.request, x.route.HonorRequest)
	}
	p.inspectVariants(x, &in)
	release = func() {
		if in.Object != nil {
			p.Store.Release(in.Object)
		}
		for _, v := range in.Variants {
			p.Store.Release(v.Object)
		}
	}
	in.Name, in.URLName, in.Key, in.Vary, in.Counted = x.name, x.name[:x.baseLen], x.key, x.vary, x.countedKey
	in.Verdict, in.Sightings = p.Gate.Foresee(x.route.Rule, x.countedKey.Hi, x.countedKey.Lo)
	return in, release, nil
}

// inspectVariants finds the variants that are stored of what x is keyed as.
func (p *Proxy) inspectVariants(x *exchange, in *Inspection) {
	for _, v := range p.Store.PeekVariants(x.baseKey, x.name[:x.baseLen]) {
		o := v.Object
		in.Variants = append(in.Variants, Variant{o, v.In, p.purgedSince(o.Name(), o.Born(), o.Tags(), x.resource())})
	}
}

// exchangeFor makes an exchange of q, which nobody answers.
func (p *Proxy) exchangeFor(q Question) (*exchange, error) {
	if !wire.ValidMethod([]byte(q.Method)) {
		return nil, ErrInspectMethod
	}
	sites, target, err := p.parseURL(q.URL, ErrPurgeURL)
	if err != nil {
		return nil, err
	}
	scheme, host := sites[0].scheme, sites[0].host
	r := &message.Request{Received: now(), Version: message.HTTP11, Method: []byte(q.Method), Host: host, Target: target.Raw}
	for _, f := range q.Fields {
		if !field.ValidName(f.Name) || !field.ValidValue(f.Value) {
			return nil, ErrInspectField
		}
		r.Lines = append(r.Lines, message.Line{Name: []byte(f.Name), Value: []byte(f.Value)})
	}
	x := newExchange()
	x.p, x.req, x.method, x.start, x.settings = p, r, r.Method, r.Received, p.settings.Load()
	x.scheme, x.host, x.target = scheme, host, target
	x.readFields()
	return x, nil
}

// inspectStored finds what is stored for x, as lookupStored and assemble do: by the rule for queries, by the exact target, and in parts.
// It leaves x keyed as that is, or as the exact target is.
func (p *Proxy) inspectStored(x *exchange, in *Inspection) *cache.Object {
	var found *cache.Object
	if x.rule != nil {
		x.keying = x.byRule
		if found, in.In = p.peekStored(x); found != nil {
			byRule := x.keying
			x.keying = x.exact
			own, place := p.peekStored(x)
			if own != nil && !originTime(found).After(originTime(own)) {
				p.Store.Release(found)
				in.In = place
				return own
			}
			if own != nil {
				p.Store.Release(own)
			}
			x.keying = byRule
			return found
		}
	}
	x.keying = x.exact
	if found, in.In = p.peekStored(x); found != nil {
		return found
	}
	if x.route.SliceBytes == 0 && !x.asks.ranged {
		return nil
	}
	whole := x.keying
	x.keying = x.exact
	x.name = cachekey.AppendPart(x.name[:x.baseLen:x.baseLen], x.route.SliceBytes, 0)
	x.baseLen = len(x.name)
	x.baseKey = p.Hasher.Sum(x.name)
	if found, in.In = p.peekStored(x); found == nil {
		x.keying = whole
		return nil
	}
	in.Part = true
	if mayVary(x.vary) { // a part is counted as the whole is
		x.countedKey = p.Hasher.Sum(x.appendVariant(x.exact.name[:x.exact.baseLen:x.exact.baseLen], x.vary))
	}
	return found
}

// peekStored is lookupKey that leaves no trace, in memory and on the disk. It sets by which key x counts.
func (p *Proxy) peekStored(x *exchange) (*cache.Object, cache.Place) {
	x.name, x.key, x.vary = x.name[:x.baseLen], x.baseKey, nil
	before := x.keying
	lists := p.Store.PeekVary(x.baseKey, x.name)
	o, place := p.Store.Peek(x.key, x.name)
	found := before
	for i := range lists.Len() {
		x.keying = before
		x.selectVariant(p, lists.At(i))
		other, otherPlace := p.Store.Peek(x.key, x.name)
		switch {
		case other == nil:
			continue
		case o == nil:
		case prefers(o, other, x.start):
			p.Store.Release(other)
			continue
		default:
			p.Store.Release(o)
		}
		o, place, found = other, otherPlace, x.keying
	}
	if x.keying = found; o == nil {
		p.peekLastVary(x, lists)
	}
	if mayVary(x.vary) {
		x.countedKey = x.key
	} else {
		x.countedKey = x.urlKey
	}
	return o, place
}

// peekLastVary is keyByLastVary that leaves no trace.
func (p *Proxy) peekLastVary(x *exchange, lists cache.Lists) {
	if names := p.varyFields.Peek(x.baseKey.Hi, x.baseKey.Lo); names != nil {
		x.selectVariant(p, names)
	} else if lists.Len() > 0 {
		x.selectVariant(p, lists.At(0))
	}
}
