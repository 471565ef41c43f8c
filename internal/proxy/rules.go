package proxy

import (
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/template"
)

// This file applies the rules of a route for fields (internal/route/fieldrules), and says which URL a message is about.

// responseFields returns the fields of an answer to request by the rules of r for responses.
func (r *route) responseFields(l field.List, request *origin.Request) field.List {
	if !r.Response.HasPlaceholders() {
		return r.Response.Apply(l)
	}
	scheme, _ := request.Header.Get("X-Forwarded-Proto")
	host, _ := request.Header.Get("X-Forwarded-Host")
	return r.Response.AppendSet(l.Without(r.Response.Drops), template.URL{Scheme: scheme, Host: []byte(host), Target: []byte(request.Keyed)}, nil)
}

// askedURL is what the client of x asks for, for the fields of our own answers.
func (x *incoming) askedURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.target.Raw}
}

// originURL is what x asks the origin for, for the rules of requests.
func (x *routed) originURL() template.URL {
	return template.URL{Scheme: x.scheme, Host: x.host, Target: x.forwarded()}
}

// keyedOrNormal is the target of x as it is keyed, or in its normal form where x has no key.
func (x *routed) keyedOrNormal() []byte {
	if x.keyedTarget != nil {
		return x.keyedTarget
	}
	return x.target.Normal
}

// makeAnew has the fields that j sets be about another target than that of x.
func (j *job) makeAnew(x *exchange, target []byte) {
	if rules := &j.route.Request; rules.HasPlaceholders() {
		u := x.originURL()
		u.Target = target
		j.request.Header = rules.MakeAnew(j.request.Header, u, x)
	}
	if j.request.Keyed != "" {
		j.request.Keyed = string(target)
	}
}

// applyRules takes out of x what its route takes from requests before anything is made
// of them. The fields of rules are looked at where fields are forwarded and keyed.
func (x *routed) applyRules() {
	rules := &x.route.Request
	x.asks.authorization = x.asks.authorization && !rules.Drops("Authorization")
	x.asks.cookie = x.asks.cookie && !rules.Drops("Cookie")
	x.stripCookies()
}

// bypasses reports whether x has a field or a cookie that makes it bypass the cache.
func (x *routed) bypasses() bool {
	b := &x.route.Bypass
	if slices.ContainsFunc(b.Headers, x.hasField) {
		return true
	}
	if len(b.Cookies) == 0 || !x.asks.cookie {
		return false
	}
	lines := x.forwardedLines("Cookie")
	return len(lines) == 1 && cachekey.Readable(lines) && b.Cookies.Found(lines[0])
}

// ambiguousCookies reports whether the route goes by cookies and the origin may read
// those of x in another way: what is keyed is then not what the answer was made for.
func (x *routed) ambiguousCookies() bool {
	r := x.route
	if !x.asks.cookie || len(r.Bypass.Cookies) == 0 && !r.Key.Reads("Cookie") {
		return false
	}
	lines := x.forwardedLines("Cookie")
	return !cachekey.Readable(lines) || r.Key.Ambiguous(lines)
}

// cookieNotInKey reports whether x has a cookie that the origin gets and the key has not. Then the response may be for
// one client only.
func (x *routed) cookieNotInKey() bool {
	return x.asks.cookie && !(x.route.Key.Reads("Cookie") && x.route.Key.HasAllCookies(x.forwardedLines("Cookie")))
}

// stripCookies takes the cookies that the route does not let through out of x, before its
// key, its sighting and its origin.
func (x *routed) stripCookies() {
	filter := &x.route.cookies
	if !x.asks.cookie || !filter.Active() {
		return
	}
	x.asks.cookie = false
	kept := x.stripped[:0]
	for _, f := range x.fields {
		if sameName(f.Name, "Cookie") {
			n := len(x.scratch)
			if out, found := filter.AppendOthers(x.scratch, f.Value); found {
				x.scratch, f.Value = out, out[n:]
				if len(f.Value) == 0 {
					continue
				}
			}
			x.asks.cookie = true
		}
		kept = append(kept, f)
	}
	x.fields, x.stripped = kept, kept
}

// What follows applies a route's rewrite.Rule: to the request for the origin, and to a Location that comes back, before
// anything else reads it. Keys, purges, logs and rules have the client's URL.

// rewritable refuses x if its target cannot be rewritten in one way only.
func (p *Proxy) rewritable(x *exchange) bool {
	if x.route.Rewrite == nil || x.route.Rewrite.Takes(x.target, x.path) {
		return true
	}
	p.refuse(x, statusNotFound, reason.AmbiguousPath)
	return false
}

// atOrigin returns what the origin is asked for in place of target.
func (x *routed) atOrigin(target []byte) []byte {
	w := x.route.Rewrite
	if w == nil {
		return target
	}
	n := len(x.scratch)
	x.scratch = w.Append(x.scratch, target)
	return x.scratch[n:]
}

// comeBack has the URLs in an answer to request be those of clients.
func (r *route) comeBack(request *origin.Request, resp *origin.Response) {
	w := r.Rewrite
	if w == nil || !w.Locations {
		return
	}
	for i := range resp.Header {
		switch f := &resp.Header[i]; f.Name {
		case "Location", "Content-Location":
			scheme, _ := request.Header.Get("X-Forwarded-Proto")
			client, _ := request.Header.Get("X-Forwarded-Host")
			f.Value = w.Location(f.Value, client, request.Host, func(out, path string) bool { return r.leadsBack(scheme, client, out, path) })
		}
	}
}

// leadsBack reports whether out is where clients find what the origin of r calls path: below the path of r and with its query, or on another route that asks
// the same origin for path. A route with Add alone, and one that is for a part of what lies below Strip, could else
// send clients to what another origin has there.
func (r *route) leadsBack(scheme, host, out, path string) bool {
	raw, _, _ := strings.Cut(out, "#")
	out, path = beforeQuery(out), beforeQuery(path)
	target := wire.Target{Normal: []byte(raw), Path: []byte(out)}
	if r.TakesPath(wire.AppendPath(nil, target.Path)) && r.TakesQuery(target.Query(), new([]byte)) {
		return true
	}
	return slices.ContainsFunc(routesOf(r.all, scheme, []byte(host), target), func(other *route) bool {
		return other.Origin == r.Origin && strings.TrimRight(other.Rewrite.AtOrigin(out), "/") == strings.TrimRight(path, "/")
	})
}

// beforeQuery returns the path that a reference begins with.
func beforeQuery(reference string) string {
	if end := strings.IndexAny(reference, "?#"); end >= 0 {
		return reference[:end]
	}
	return reference
}
