package cache

import (
	"math/rand/v2"

	"edgeproxy/internal/cache/disk"
)

// HitPart is the part of what a tier holds that was hit: returned by a look-up since it landed in the tier. It is worked out
// from a sample if the tier holds much.
type HitPart struct {
	// Objects and Bytes are parts of those of TierStats.
	Objects, Bytes int64
	// Sampled is how many objects were looked at. If these are all, Objects and Bytes are exact.
	Sampled int64
}

// HitParts are the HitPart of each tier. Stage and Disk are all 0 when there is none.
//
// On the disk a record counts that was hit since it was written, since the hand of the eviction last passed it, or since the
// process was started, whichever was last. Hits of its copy in memory are passed on to it now and then (touchShare). Its Bytes
// are estimated, as disk.Stats.LiveBytes are, of which they are a part.
type HitParts struct{ Memory, Stage, Disk HitPart }

// HitParts looks at what is held. It takes no lock that a look-up or a write needs. However much is held, it looks at some
// ten thousand objects of a tier, which takes some milliseconds.
func (s *Store) HitParts() (p HitParts) {
	var window, main, staged hitSample
	s.window.some(mostSampled, func(o *Object) { window.note(o, o.cost()) })
	s.main.some(mostSampled, func(o *Object) { main.note(o, o.cost()) })
	s.stage.items.some(mostSampled, func(o *Object) { staged.note(o, o.weight().staged()) })
	objects, bytes := s.window.count.Load(), s.window.bytes.Load()
	p.Memory = window.extended(objects, bytes).plus(main.extended(s.books.objects.Load()-objects, s.books.bytes.Load()-bytes))
	p.Stage = staged.extended(s.stage.books.objects.Load(), s.stage.books.bytes.Load())
	if s.disk != nil {
		p.Disk = s.disk.hitPart()
	}
	return p
}

// mostSampled is about how many objects of a part of a tier are looked at. Shares of a sample of so many are right within one
// point, 99 times in 100.
const mostSampled = 16384

func (p HitPart) plus(other HitPart) HitPart {
	return HitPart{p.Objects + other.Objects, p.Bytes + other.Bytes, p.Sampled + other.Sampled}
}

// hitSample sums up the objects looked at, and those of them that were hit.
type hitSample struct{ objects, bytes, hitObjects, hitBytes int64 }

// note adds o, which takes so many bytes. A content that several variants share counts with each of them.
func (h *hitSample) note(o *Object, bytes int64) {
	h.objects++
	h.bytes += bytes
	if o.asked() {
		h.hitObjects++
		h.hitBytes += bytes
	}
}

// extended returns the sample extended to a tier that holds so many objects and bytes.
func (h *hitSample) extended(objects, bytes int64) HitPart {
	return HitPart{part(h.hitObjects, h.objects, objects), part(h.hitBytes, h.bytes, bytes), h.objects}
}

// part returns as much of all as n is of sample.
func part(n, sample, all int64) int64 {
	switch {
	case sample == 0 || all <= 0:
		return 0
	case sample == all:
		return n
	}
	return int64(float64(n) / float64(sample) * float64(all))
}

// some calls visit with about most of the items, or with all if there are not more: those of chains that follow each other.
// A chain is chosen by the hash of a key, so they are a random sample. Any goroutine may call it. If most chains are empty, it
// gives up after chainsEach for each item wanted.
func (c *secondChance[V]) some(most int, visit func(V)) {
	first := rand.IntN(len(c.chains)) //nolint:gosec // a sample
	for i := range min(len(c.chains), most*chainsEach) {
		for s := c.chains[(first+i)%len(c.chains)].Load(); s != nil; s = s.chain.Load() {
			visit(s.value)
			most--
		}
		if most <= 0 {
			return
		}
	}
}

const chainsEach = 64

// some calls visit with about most of what is there, or with all if that is not more: with each of so many numbers. Any
// goroutine may call it.
func (m *mainPart) some(most int, visit func(*Object)) {
	end := m.blocks.places.end()
	step := max(1, end/most)
	for n := 1 + rand.IntN(step); n < end; n += step { //nolint:gosec // a sample
		if o := m.blocks.at(uint32(n)); o != nil && m.holds(o.key) { //nolint:gosec // below end
			visit(o)
		}
	}
}

// hitPart is the HitPart of the disk.
func (d *diskTier) hitPart() (p HitPart) {
	if kept, ok := d.Disk.(interface{ HitPart() disk.HitPart }); ok {
		st := kept.HitPart()
		p = HitPart{st.Objects, st.Bytes, st.Sampled}
	}
	return p
}
