package proxy

import (
	"slices"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/http/wire"
)

// This file asks of a response whether a purge has reached it: when it is found, and
// again when it is stored.

// findUnpurged returns what is stored under a key for a URL, and what the purges have left of it
// at this time: nothing, a stale response, or the entry itself. heldBack says that admission has
// held the entry back. Each entry that is to be an answer comes from here.
func (p *Proxy) findUnpurged(key cache.Key, name []byte, u purge.URL, at time.Time) (e *cache.Object, heldBack bool) {
	for {
		settled := p.Purges.Settled()
		e, heldBack := p.Store.Find(key, name)
		if e == nil {
			return nil, false
		}
		if e = p.unpurged(e, u, at); e == nil {
			return nil, false // it counts as never stored
		}
		if p.Purges.Settled() == settled { // else the mark for it may have gone before we asked
			return e, heldBack
		}
	}
}

// loadUnpurged is findUnpurged for the disk, which it may wait for; for vary see cache.Store.Load. What is asked for often enough is
// copied to memory, and that is returned.
func (p *Proxy) loadUnpurged(key cache.Key, name []byte, u purge.URL, at time.Time) (e *cache.Object, vary cache.Lists) {
	for {
		settled := p.Purges.Settled()
		e, vary := p.Store.Load(key, name)
		if e == nil {
			return nil, vary
		}
		found := p.unpurged(e, u, at)
		if found == nil {
			return nil, vary
		}
		if p.Purges.Settled() != settled { // the mark for it may have gone before we asked
			p.Store.Release(e)
			continue
		}
		if found != e {
			return found, vary
		}
		// No sweep of purges misses the copy: while it lands, all marks are there that were there when it was checked.
		if kept := p.Store.Keep(e, func() bool {
			return p.Purges.Settled() != settled || p.purgedSince(e.Name(), e.Born(), e.Tags(), u) != purge.Valid
		}); kept != nil {
			p.Store.Release(e)
			return kept, vary
		}
		return e, vary
	}
}

// findIgnoringPurges returns what is stored under a key, whatever purges have made of it. It may wait for the disk.
func (p *Proxy) findIgnoringPurges(key cache.Key, name []byte) *cache.Object {
	e, _ := p.Store.Find(key, name)
	if e == nil {
		e, _ = p.Store.Load(key, name)
	}
	return e
}

// unpurged returns what the purges have left of e, which is stored for u.
func (p *Proxy) unpurged(e *cache.Object, u purge.URL, at time.Time) *cache.Object {
	switch p.purgedSince(e.Name(), e.Born(), e.Tags(), u) {
	case purge.Gone:
		p.Store.Discard(e)
		return nil
	case purge.Stale:
		return cache.NewObject(outdated(e.Entry(), at))
	case purge.Valid:
	}
	return e
}

// stillStored reports whether no purge has removed e, which was found for u a while ago. Where
// marks younger than e have gone since, a sweep went before and removed what they had purged, so
// the store is asked.
func (p *Proxy) stillStored(e *cache.Object, u purge.URL) bool {
	for {
		settled := p.Purges.Settled()
		stands := p.purgedSince(e.Name(), e.Born(), e.Tags(), u) != purge.Gone
		if stands && e.Born() < settled {
			held := p.findIgnoringPurges(e.Key(), e.Name())
			stands = held != nil && held.Serial() == e.Serial()
		}
		if p.Purges.Settled() == settled {
			return stands
		}
	}
}

// purgedSince returns what the purges since born have made of what is found or stored for u, under
// this name. What is stored by a rule is also reached by those of its other URLs.
func (p *Proxy) purgedSince(name []byte, born uint64, tags []uint64, u purge.URL) purge.State {
	s := p.Purges.Check(born, u, tags)
	path, whole := wire.SearchKey(name)
	if whole == nil || s == purge.Gone {
		return s
	}
	u.Target = path
	s = max(s, p.Purges.Check(born, u, nil))
	u.Target = whole
	return max(s, p.Purges.Check(born, u, nil))
}

// outdated returns e with its freshness at an end. A soft purge has no time of its own, so the
// spans of stale use begin now.
func outdated(e *cache.Entry, at time.Time) *cache.Entry {
	o := *e
	o.Policy.Lifetime = min(o.Policy.Lifetime, rfc9111.CurrentAge(e.InitialAge, e.ResponseTime, at))
	return &o
}

// purgedCheck returns a function that reports whether a purge has removed e, which j is about.
// forgotten reports it for URLs that were forgotten without a mark: their flight knows. If
// marks were dropped since j began it is unknown, and the answer is yes. What a soft purge has made
// stale is stored as stale. But beside a sweep it is not stored: the sweep may have passed its
// place already, and drops the mark.
func (p *Proxy) purgedCheck(j *job, e *cache.Entry, forgotten func() bool) func() bool {
	return func() bool {
		if forgotten() || p.purgeRaced(j) {
			return true
		}
		state := p.purgedSince(e.Name, e.Born, e.Tags, j.resource)
		return state == purge.Gone || state == purge.Stale && p.settler.misses() || j.born < p.Purges.Settled()
	}
}

// purgeRaced reports whether a URL of the path was forgotten since j began, by someone who
// did not know where the response would belong.
func (p *Proxy) purgeRaced(j *job) bool {
	return j.moved && p.queryRules.Forgotten(j.path) != j.forgotten
}

// tags returns the tags of a response with the fields h: others, those that are for the cache
// alone, and its groups (RFC 9875), by which an operator purges as well.
func (p *Proxy) tags(j *job, others []uint64, h field.List) []uint64 {
	return p.tagsOf(j.resource, others, h, j.route)
}

// tagsOf is tags for a response to u by the fields of route r.
func (p *Proxy) tagsOf(u purge.URL, others []uint64, h field.List, r *route) []uint64 {
	tags := p.Purges.AppendTags(slices.Clone(others), h, r.tags)
	for _, group := range rfc9111.Groups(h) {
		tags = p.Purges.AppendGroup(tags, u.Scheme, u.Host, group)
	}
	return slices.Clone(tags) // without the room that append left
}

// tagNames returns the names of the tags of o, a response to u, as far as they are known: by the fields that it is stored with, or
// because a response had the tag lately. Requests for u have the route r.
func (p *Proxy) tagNames(o *cache.Object, u purge.URL, r *route) []string {
	p.tagsOf(u, nil, o.Header().AppendTo(nil), r) // which remembers the names
	return p.Purges.Names(o.Tags())
}

// renewedTags returns the tags of a stored response that a 304 with the fields from304 has
// updated. Fields for the cache alone are not stored with the response. So a 304 without them
// takes no tag away.
func (p *Proxy) renewedTags(j *job, from304, updated field.List) []uint64 {
	others := j.stale.Tags()
	if slices.ContainsFunc(from304, func(f field.Field) bool { return j.route.isTagField(f.Name) }) {
		others = nil
	}
	return p.tags(j, others, updated)
}

// isTagField reports whether the field is between origin and cache alone. A nil r has none.
func (r *route) isTagField(name string) bool {
	return r != nil && r.tags.Has(name)
}
