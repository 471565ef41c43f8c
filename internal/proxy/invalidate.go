package proxy

import (
	"edgeproxy/internal/origin"
	"edgeproxy/internal/rfc9111"
	"edgeproxy/internal/wire"
)

// Invalidation says what the cache forgets when a request by an unsafe method has succeeded. A
// client chooses its method, so each client can have these things forgotten: those of its URL,
// and those that it can make an origin name.
type Invalidation uint8

// The kinds of Invalidation.
const (
	// InvalidateUnsafe forgets the URL of the request and those of its origin that
	// Location and Content-Location name (RFC 9111 section 4.4), and groups (RFC 9875).
	InvalidateUnsafe Invalidation = iota
	// InvalidateSameURL forgets the URL of the request.
	InvalidateSameURL
	// InvalidateNone forgets nothing.
	InvalidateNone
)

// invalidationCause says why something was forgotten. It is the label of a metric.
type invalidationCause uint8

const (
	causeTarget invalidationCause = iota
	causeLocation
	causeContentLocation
	causeGroup
	causePurgeMethod

	causeCount
)

var causeWords = [causeCount]string{"target", "location", "content_location", "group", "purge_method"}

// invalidate forgets what is stored for a URL whose state the request may have changed, and for
// those that the response names (RFC 9111 section 4.4), as far as the route allows it. It returns how many
// marks of purges it has left.
func (p *Proxy) invalidate(x *exchange, resp *origin.Response) (marks uint64) {
	if marks = p.invalidateNamed(x, resp); marks > 0 {
		_ = p.Purges.Keep() // the table tells the log; the client can do nothing about it
	}
	return marks
}

func (p *Proxy) invalidateNamed(x *exchange, resp *origin.Response) (marks uint64) {
	kind, count := x.route.Invalidate, &x.route.metrics.invalidations
	if kind == InvalidateUnsafe {
		marks = p.invalidateGroups(x, resp)
	}
	if kind == InvalidateNone || !rfc9111.Invalidates(string(x.method), resp.Status) {
		return marks
	}
	marks += p.invalidateURL(x.scheme, x.host, x.target)
	count[causeTarget].Add(1)
	if kind == InvalidateSameURL {
		return marks
	}
	location, uri := "", x.uri()
	for _, by := range [...]struct {
		cause invalidationCause
		field string
	}{{causeLocation, "Location"}, {causeContentLocation, "Content-Location"}} {
		raw, ok := rfc9111.InvalidationTarget(resp.Header, by.field, uri)
		if !ok || raw == location {
			continue
		}
		location = raw
		if target, err := wire.ParseTarget([]byte(raw), x.scheme, false); err == nil {
			marks += p.invalidateURL(x.scheme, x.host, target)
			count[by.cause].Add(1)
		}
	}
	return marks
}

// invalidateURL forgets what an unsafe request has changed. It leaves a mark among the purges
// only where something stored could not be found, or could come back: with a restart, or from the disk.
func (p *Proxy) invalidateURL(scheme string, host []byte, target wire.Target) (marks uint64) {
	resources, selects := p.resources(scheme, host, target)
	for _, u := range resources {
		if selects || p.Purges.Keeps() || p.Store.HasDisk() {
			p.markURL(u, false)
			marks++
		}
		p.forget(u)
	}
	if marks > 0 {
		p.purgeCount.Add(1)
	}
	return marks
}

// invalidateGroups purges the groups that the answer to an unsafe request names, of
// the origin it was sent to (RFC 9875 section 3).
func (p *Proxy) invalidateGroups(x *exchange, resp *origin.Response) (marks uint64) {
	for _, group := range rfc9111.InvalidatedGroups(string(x.method), resp.Header) {
		p.Purges.Tag(p.Purges.HashGroup(x.scheme, x.host, group), false)
		p.purgeCount.Add(1)
		x.route.metrics.invalidations[causeGroup].Add(1)
		marks++
	}
	return marks
}
