package proxy

import (
	"slices"
	"strings"

	"edgeproxy/internal/http/reason"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
)

// This file applies a route's rewrite.Rule: to the request for the origin, and to a Location that comes back, before
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
func (x *exchange) atOrigin(target []byte) []byte {
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
