package proxy

import (
	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy/internal/queryrules"
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
	flightURL cache.Key // by which purges find its flight
	path      uint64
	forgotten uint64 // of the path, when the job began
	moved     bool   // the response belongs elsewhere than purges look for the job
}

// keepContext sets that of x, for the job j, which has the exact key.
func (p *Proxy) keepContext(x *exchange, j *job) {
	j.flightURL, j.path = x.url, p.pathOf(j.resource)
	j.forgotten = p.queryRules.Forgotten(j.path)
}

// storageKey returns the key that a response to j asks for, and the rule if it is by one. It
// teaches the table what the response says.
func (p *Proxy) storageKey(j *job, resp *origin.Response) (home keying, by *queryrules.Rule) {
	home = j.exact
	if j.facts.Method == "GET" && j.route.NoVarySearch {
		by = p.learnQueryRule(j, resp, &home)
	}
	j.moved = home.url != j.flightURL
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
		p.Gate.SightAlso(j.route.Rule, j.verdict, k.url.Hi, k.url.Lo)
	}
	if !said.Covers {
		return nil
	}
	*home = k
	if said.New {
		j.url = k.url
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
	j.by = x.rule
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
func (x *exchange) keyedExactly() bool { return x.rule == nil || x.base == x.exact.base }
