package proxy

import (
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/route/setting"
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

// forgotten says what was done so that what an unsafe request has invalidated does not come back.
type forgotten struct {
	marks    uint64      // left among the purges
	unmarked []purge.URL // URLs of which nothing may come back from the disk
}

// invalidate forgets what is stored for a URL whose state the request may have changed, and for
// those that the response names (RFC 9111 section 4.4), as far as the route allows it. It returns how many
// marks of purges it has left.
func (p *Proxy) invalidate(x *exchange, resp *origin.Response) (marks uint64) {
	done := p.invalidateNamed(x, resp)
	if len(done.unmarked) > 0 && p.Purges.Keeps() && p.Store.KeepRemovals() != nil {
		for _, u := range done.unmarked {
			p.markURL(u, false)
			done.marks++
		}
		p.purgeCount.Add(1)
	}
	if done.marks > 0 {
		_ = p.keepMarks.keep(p.Purges.Keep) // the table tells the log; the client can do nothing about it
	}
	return done.marks
}

func (p *Proxy) invalidateNamed(x *exchange, resp *origin.Response) (done forgotten) {
	kind, count := x.route.Invalidate, &x.route.metrics.invalidations
	if kind == setting.InvalidateUnsafe {
		done.marks = p.invalidateGroups(x, resp)
	}
	if kind == setting.InvalidateNone || !rfc9111.Invalidates(string(x.method), resp.Status) {
		return done
	}
	p.invalidateURL(x.scheme, x.host, x.target, &done)
	count[causeTarget].Add(1)
	if kind == setting.InvalidateSameURL {
		return done
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
		if target, err := wire.ParseTarget([]byte(raw), x.scheme, false, new([]byte)); err == nil {
			p.invalidateURL(x.scheme, x.host, target, &done)
			count[by.cause].Add(1)
		}
	}
	return done
}

// invalidateURL forgets what an unsafe request has changed. It leaves a mark among the purges
// only where something stored could not be found, or could come back: with a restart, or from the disk.
func (p *Proxy) invalidateURL(scheme string, host []byte, target wire.Target, done *forgotten) {
	resources, selects := p.resources(scheme, host, target)
	before := done.marks
	for _, u := range resources {
		switch {
		case p.Store.HasDisk():
			p.invalidateOnDisk(u, selects, done)
		case selects, p.Purges.Keeps():
			p.markURL(u, false)
			done.marks++
			p.forget(u)
		default:
			p.forget(u)
		}
	}
	if done.marks > before {
		p.purgeCount.Add(1)
	}
}

// invalidateOnDisk is invalidateURL where there is a disk. What is stored under the URL itself can be found, in memory or on the disk. Any client can
// invalidate any number of URLs, and too many marks reach what they do not name. So there is a mark
//
//   - for a flight that may be about to store: what it writes to the disk can be found a moment before it is
//     known to be purged;
//   - for what the URL alone does not find, if selects says that a route has such things, and there may be one;
//   - for what was stored, unless there is little room for marks. It has been removed, and the mark is in
//     the journal of purges if the removal does not reach the disk.
//
// Of what is left without a mark, the disk keeps the removals (see invalidate), and nothing that it
// does not list is found again.
func (p *Proxy) invalidateOnDisk(u purge.URL, selects bool, done *forgotten) {
	p.Store.OnlyListed(p.Purges.Now())
	held := p.mayHold(u)
	objects, flights := p.forgetAll(u)
	switch {
	case flights > 0, selects && p.mayBeSelected(u): // in this order: what a flight has stored before it ended is known by now
		p.markURL(u, false)
		done.marks++
	case (held || objects > 0) && p.tryMarkURL(u):
		done.marks++
	default:
		done.unmarked = append(done.unmarked, u)
	}
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
