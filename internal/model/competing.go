package model

import (
	"edgeproxy/internal/eviction"
	"edgeproxy/internal/trace"
)

// sizeExponent is how much sizes matter: between 1, which has the most hits, and 0, which has the most bytes of hits.
const sizeExponent = 0.35

// competing evicts the object of least worth (package eviction). Times are requests. A newcomer competes with what would go for it
// where the policy remembers sightings: one that always stores has said that it wants everything. Copies of what is on a disk do not
// compete.
type competing struct {
	objects  []trace.Object
	used     []use
	ranking  *eviction.Ranking
	now      uint32 // requests so far
	maxBytes int64
	bytes    int64
	times    uint32 // that an object was asked for when the policy lets it in; 0: it does not compete
	left     counters
}

// use is what an object was used for, and where it is.
type use struct {
	last   uint32 // request of the last use
	times  uint32 // uses since it was stored
	staged uint32 // request that put it into the stage
	at     part
	hit    bool
}

func newCompeting(s Setting, capacity int64, objects []trace.Object) *competing {
	a := &competing{objects: objects, used: make([]use, len(objects)), maxBytes: capacity}
	if s.Policy.Remembers() && s.DiskBytes == 0 {
		a.times = uint32(max(s.MoreThan, 1) + 1)
	}
	a.ranking = eviction.NewRanking(sizeExponent, a)
	return a
}

// Uses is that of eviction.Objects.
func (a *competing) Uses(i uint32) (times, last uint32) { return a.used[i].times, a.used[i].last }

// Bytes is that of eviction.Objects.
func (a *competing) Bytes(i uint32) int64 { return max(a.objects[i].Size, 1) }

func (a *competing) hit(i uint32) bool {
	a.now++
	u := &a.used[i]
	if u.at != queue {
		return false
	}
	u.hit = true
	u.last = a.now
	u.times++
	return true
}

// staged notes that i goes into the stage.
func (a *competing) staged(i uint32) { a.used[i].staged = a.now }

// takes reports whether i is worth more than what would go for it, and evicts that.
func (a *competing) takes(i uint32) bool {
	missing := a.bytes + a.Bytes(i) - a.maxBytes
	if missing <= 0 || a.times == 0 {
		return true
	}
	victims, ok := a.ranking.Yield(missing, eviction.Newcomer{Times: a.times, Interval: a.interval(i)}, a.now)
	for _, victim := range victims {
		a.evicted(victim)
	}
	return ok
}

// interval is how long ago i was asked for before. The stage knows. Else it is taken for one request for each object that is held.
func (a *competing) interval(i uint32) float64 {
	if since := a.used[i].staged; since > 0 {
		return float64(a.now - since)
	}
	return float64(a.left.objects)
}

func (a *competing) evicted(i uint32) {
	u := &a.used[i]
	u.at = unlinked
	a.bytes -= a.Bytes(i)
	a.left.objects--
	a.left.evictions++
	if !u.hit {
		a.left.neverHit++
	}
}

func (a *competing) store(i uint32) {
	for a.bytes+a.Bytes(i) > a.maxBytes {
		victim, _ := a.ranking.Next(a.now)
		a.evicted(victim)
	}
	a.used[i] = use{last: a.now, times: 1, at: queue}
	a.ranking.Add(i)
	a.bytes += a.Bytes(i)
	a.left.objects++
}

func (a *competing) held() (objects, bytes int64) { return a.left.objects, a.bytes }

func (a *competing) counters() counters { return a.left }

func (a *competing) look(requests []trace.Access) (read uint32) {
	for _, request := range requests {
		read += a.used[request.Object].last
	}
	return read
}
