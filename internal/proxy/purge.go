package proxy

import (
	"errors"
	"fmt"
	"strings"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/proxy/internal/queryrules"
)

// What a purge may go by: the words of the admin listener and of the command.
const (
	purgeByURL    = "url"
	purgeByPrefix = "prefix"
	purgeByHost   = "host"
	purgeByTag    = "tag"
	purgeAll      = "all"
)

// Errors of Purge: what is wrong with a value.
var (
	ErrPurgeURL    = errors.New("must be an absolute URL such as http://example.com/path?query")
	ErrPurgePrefix = errors.New("must be the beginning of an absolute URL, such as http://example.com/path/")
	ErrPurgeHost   = errors.New("must be a host such as example.com, with its port if that is not the default")
	ErrPurgeTag    = errors.New("must be a tag as in Surrogate-Key, Cache-Tag or Cache-Groups")
	ErrPurgeBy     = errors.New("must be url, prefix, host, tag or all")
)

// Purge forgets what is stored under each value: by "url" all variants of an
// absolute URL; by "prefix" what begins like one, in its normal form; by "host" what
// has this host, port included; by "tag" what carries the tag, or one of several with commas between them; by "all", which
// takes no value, everything. Soft makes it stale instead: it is validated or
// fetched anew at the next request, and may answer where a stale response may.
//
// When it has returned, no request that comes then is answered by a response whose
// fetch began before, whether that is stored or still on its way. Only a purge of
// URLs that is not soft counts the objects that went, without those on their way:
// the cost of the others does not depend on what is stored, and what they reach is
// removed when it is asked for.
//
// URLs, prefixes and hosts pass the parser and the key rules of requests. An https URL where no request
// has that scheme is the http one, and the other way round. With an
// error nothing was purged, but for a *purge.NotKeptError: then all was, and may come
// back after a restart. Sightings stay: the next storable response is stored at
// once. Safe for concurrent use.
func (p *Proxy) Purge(by string, values []string, soft bool) (objects int, counted bool, err error) {
	if by == purgeAll {
		p.Purges.All(soft)
		p.purgeCount.Add(1)
		return 0, false, p.Purges.Keep()
	}
	steps := make([]purgeStep, len(values))
	for i, v := range values {
		if steps[i], err = p.purgeStep(by, v, soft); err != nil {
			return 0, false, fmt.Errorf("%s %.200q: %w", by, v, err)
		}
	}
	counted = true
	for _, step := range steps {
		n, all := step()
		p.purgeCount.Add(1)
		objects, counted = objects+n, counted && all
	}
	return objects, counted, p.Purges.Keep()
}

// purgeStep purges one value; all says that it counted all that went.
type purgeStep func() (objects int, all bool)

func uncounted(mark func()) purgeStep {
	return func() (int, bool) {
		mark()
		return 0, false
	}
}

func (p *Proxy) purgeStep(by, value string, soft bool) (purgeStep, error) {
	switch by {
	case purgeByURL:
		sites, target, err := p.parseURL(value, ErrPurgeURL)
		return p.urlStep(sites, target, soft), err
	case purgeByPrefix:
		sites, target, err := p.parseURL(value, ErrPurgePrefix)
		return p.prefixStep(sites, target, soft), err
	case purgeByHost:
		host, err := wire.AppendHost(nil, []byte(value), schemePlain)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrPurgeHost)
		}
		return uncounted(func() { p.Purges.Host(host, soft) }), nil
	case purgeByTag:
		if value == "" || strings.ContainsFunc(value, control) {
			return nil, ErrPurgeTag
		}
		return uncounted(func() {
			for _, tag := range tagsNamed(value) {
				p.Purges.Tag(p.Purges.HashTag(tag), soft)
			}
		}), nil
	}
	return nil, ErrPurgeBy
}

// tagsNamed returns the tags that an operator means by a value: itself, and where it has commas those between them.
func tagsNamed(value string) []string {
	tags := []string{value}
	for tag := range strings.SplitSeq(value, ",") {
		if tag = strings.Trim(tag, " "); tag != "" && tag != value {
			tags = append(tags, tag)
		}
	}
	return tags
}

// urlStep purges target at each of sites.
func (p *Proxy) urlStep(sites []site, target wire.Target, soft bool) purgeStep {
	return func() (objects int, all bool) {
		all = true
		for _, s := range sites {
			n, counted := p.purgeURL(s.scheme, s.host, target, soft)
			objects, all = objects+n, all && counted
		}
		return objects, all
	}
}

// prefixStep purges what begins like target at each of sites.
func (p *Proxy) prefixStep(sites []site, target wire.Target, soft bool) purgeStep {
	target = target.Prefix()
	return uncounted(func() {
		for _, s := range sites {
			for _, u := range p.prefixes(s.scheme, s.host, target) {
				p.markPrefix(u, soft)
			}
		}
	})
}

// control reports whether r is in no field value.
func control(r rune) bool { return r < ' ' || r == 0x7f }

// site is where a URL is: a scheme, and a host as keys have it.
type site struct {
	scheme string
	host   []byte
}

// parseURL parses an absolute URL, or the beginning of some; want says what it should be. Sites has
// more than one where no request has its scheme: TLS then ends before this proxy, or behind it, and who
// purges gives the URL that browsers show. The first is the one that requests have; the URL's own is
// there too, for a disk may have responses of a time when requests had it.
func (p *Proxy) parseURL(raw string, want error) (sites []site, target wire.Target, err error) {
	scheme, _, ok := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	schemes := []string{scheme}
	switch {
	case !ok || scheme != schemePlain && scheme != schemeSecure:
		return nil, target, want
	case p.servesScheme(scheme):
	case scheme == schemePlain:
		schemes = []string{schemeSecure, schemePlain}
	default:
		schemes = []string{schemePlain, schemeSecure}
	}
	if target, err = wire.ParseTarget([]byte(raw), scheme, false, new([]byte)); err == nil {
		sites, err = sitesOf(target.Authority, scheme, schemes)
	}
	if err != nil {
		return nil, target, fmt.Errorf("%w: %w", err, want)
	}
	return sites, target, nil
}

// sitesOf returns the host of a URL of scheme as it is with each of schemes: a proxy before this one
// sends it without the usual port of its own scheme.
func sitesOf(authority []byte, scheme string, schemes []string) (out []site, err error) {
	sent, err := wire.AppendHost(nil, authority, scheme)
	for _, s := range schemes {
		if err != nil {
			return nil, err
		}
		var host []byte
		host, err = wire.AppendHost(nil, sent, s)
		out = append(out, site{s, host})
	}
	return out, err
}

// purgeURL marks a URL and removes at once what is found of it, to count it.
func (p *Proxy) purgeURL(scheme string, host []byte, target wire.Target, soft bool) (objects int, all bool) {
	resources, selects := p.resources(scheme, host, target)
	for _, u := range resources {
		p.markURL(u, soft)
		if !soft {
			objects += p.forget(u)
		}
	}
	return objects, !selects && !soft
}

// markURL leaves a mark for u, and in the same purge for all that means the same.
func (p *Proxy) markURL(u purge.URL, soft bool) {
	p.queryRules.ForgetAll(p.pathOf(u), func(rule *queryrules.Rule) {
		if rule == nil {
			p.Purges.URL(u, soft)
			return
		}
		_, key := rule.AppendKey(nil, u.Scheme, u.Host, u.Target)
		p.Purges.URL(u, soft, purge.URL{Scheme: u.Scheme, Host: u.Host, Target: key})
	})
}

// markPrefix leaves a mark for what begins with u. Where u ends in the query it also takes all
// of the path that is stored by a rule: such a response answers many queries, and some of them
// may begin like that.
func (p *Proxy) markPrefix(u purge.URL, soft bool) {
	key, inQuery := queryrules.PathKey(u.Scheme, u.Host, u.Target)
	if !inQuery {
		p.Purges.Prefix(u, soft)
		return
	}
	p.Purges.Prefix(u, soft, purge.URL{Scheme: u.Scheme, Host: u.Host, Target: key})
}

// tryMarkURL is markURL, hard, unless there is little room for marks: then it leaves none and returns false.
func (p *Proxy) tryMarkURL(u purge.URL) (marked bool) {
	p.queryRules.ForgetAll(p.pathOf(u), func(rule *queryrules.Rule) {
		if rule == nil {
			marked = p.Purges.TryURL(u)
			return
		}
		_, key := rule.AppendKey(nil, u.Scheme, u.Host, u.Target)
		marked = p.Purges.TryURL(u, purge.URL{Scheme: u.Scheme, Host: u.Host, Target: key})
	})
	return marked
}

// forget removes what is found of u under its own key, and under that of all URLs that
// mean the same. It returns how many objects that were.
func (p *Proxy) forget(u purge.URL) int {
	objects, _ := p.forgetAll(u)
	return objects
}

// forgetAll is forget, and returns as well how many flights it has kept from being stored.
func (p *Proxy) forgetAll(u purge.URL) (objects, flights int) {
	objects, flights = p.forgetPart(wire.AppendKey(nil, u.Scheme, u.Host, u.Target))
	if rule := p.queryRules.Forget(p.pathOf(u)); rule != nil {
		_, key := rule.AppendKey(nil, u.Scheme, u.Host, u.Target)
		o, f := p.forgetPart(key)
		objects, flights = objects+o, flights+f
	}
	return objects, flights
}

// forgetPart removes what is found under the URL part of a key and keeps its flights
// from being stored. It takes the flights first: one that stores after that sees the
// mark, and one that stored before is removed with the rest.
func (p *Proxy) forgetPart(name []byte) (objects, flights int) {
	url := p.Hasher.Sum(name)
	flights = p.flights.Purge(url)
	part := p.newSpan(name, 0, 0)
	return p.Store.Purge(url, name) + p.Store.Purge(part.key, part.name), flights
}

// mayHold reports whether forget may find something of u, in any tier.
func (p *Proxy) mayHold(u purge.URL) bool {
	if p.mayHoldPart(wire.AppendKey(nil, u.Scheme, u.Host, u.Target)) {
		return true
	}
	rule := p.queryRules.Peek(p.pathOf(u))
	if rule == nil {
		return false
	}
	_, key := rule.AppendKey(nil, u.Scheme, u.Host, u.Target)
	return p.mayHoldPart(key)
}

func (p *Proxy) mayHoldPart(name []byte) bool {
	part := p.newSpan(name, 0, 0)
	return p.Store.MayHold(p.Hasher.Sum(name), name) || p.Store.MayHold(part.key, part.name)
}
