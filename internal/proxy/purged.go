package proxy

import (
	"slices"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/field"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/rfc9111"
)

// This file asks of a response whether a purge has reached it: when it is found, and
// again when it is stored.

// unpurged returns what the purges have left of e, which was found for x: nothing,
// e as a stale response, or e itself.
func (p *Proxy) unpurged(x *exchange, e *cache.Entry) *cache.Entry {
	return p.unpurgedAt(e, x.resource(), x.start)
}

// unpurgedAt is unpurged for what is stored for a URL, at some time.
func (p *Proxy) unpurgedAt(e *cache.Entry, u purge.URL, at time.Time) *cache.Entry {
	switch p.purgedSince(e, u) {
	case purge.Gone:
		p.Store.Discard(e)
		return nil
	case purge.Stale:
		return outdated(e, at)
	case purge.Valid:
	}
	return e
}

// outdated returns e with its freshness at an end: the spans of stale use begin now,
// as a soft purge has no time of its own.
func outdated(e *cache.Entry, at time.Time) *cache.Entry {
	o := *e
	o.Policy.Lifetime = min(o.Policy.Lifetime, rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, at))
	return &o
}

// reached returns a question: has a purge taken e, which j is about? URLs that were
// forgotten without a mark are for the flight to say, in forgotten.
func (p *Proxy) reached(j *job, e *cache.Entry, forgotten func() bool) func() bool {
	return func() bool {
		return forgotten() || p.slipped(j) || p.purgedSince(e, j.resource) == purge.Gone
	}
}

// tags returns the tags of a response with this header: those for the cache alone,
// and its groups (RFC 9875), by which an operator purges too. They come on top of
// others.
func (p *Proxy) tags(j *job, others []uint64, h field.List) []uint64 {
	tags := p.Purges.AppendTags(slices.Clone(others), h)
	for _, group := range rfc9111.Groups(h) {
		tags = purge.AppendTag(tags, p.Purges.HashTag(group))
		tags = purge.AppendTag(tags, p.Purges.HashGroup(j.resource.Scheme, j.resource.Host, group))
	}
	return slices.Clone(tags) // without the room that append left
}

// renewedTags returns the tags of a stored response after a 304 with the header
// from304, which has made it updated. Fields for the cache alone are not kept with the
// response, so a 304 without them takes no tag away.
func (p *Proxy) renewedTags(j *job, from304, updated field.List) []uint64 {
	others := j.stale.Tags
	if from304.Has("Surrogate-Key") || from304.Has("Cache-Tag") {
		others = nil
	}
	return p.tags(j, others, updated)
}

// inside names the fields that are between origin and cache.
func inside(name string) bool { return name == "Surrogate-Key" || name == "Cache-Tag" }
