package model

import "edgeproxy/internal/lab/trace"

// gdsf is GreedyDual-Size-Frequency (Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy",
// HP Laboratories 1998): the object of the least priority goes. The priority is that of the last one that went, when the object was
// used last, and the uses since it was stored by the size.
type gdsf struct {
	objects  []trace.Object
	ranked   []ranked
	order    byPriority
	clock    float64 // the priority of the last one that went
	maxBytes int64
	bytes    int64
	left     counters
}

type ranked struct {
	priority float64
	uses     uint32
	index    uint32 // in the heap, plus 1; 0: it is not there
	hit      bool
}

func newGDSF(maxBytes int64, objects []trace.Object) *gdsf {
	g := &gdsf{objects: objects, ranked: make([]ranked, len(objects)), maxBytes: maxBytes}
	g.order.of = g.ranked
	return g
}

func (g *gdsf) space(i uint32) int64 { return max(g.objects[i].Size, 1) }

func (g *gdsf) use(i uint32) {
	o := &g.ranked[i]
	o.uses++
	o.priority = g.clock + float64(o.uses)/float64(g.space(i))
}

func (g *gdsf) hit(i uint32) bool {
	o := &g.ranked[i]
	if o.index == 0 {
		return false
	}
	o.hit = true
	g.use(i)
	g.order.down(int(o.index - 1)) // a use makes it no less
	return true
}

func (g *gdsf) holds(i uint32) bool { return g.ranked[i].index != 0 }

func (g *gdsf) store(i uint32) {
	for g.bytes+g.space(i) > g.maxBytes {
		g.evict()
	}
	g.ranked[i].hit, g.ranked[i].uses = false, 0
	g.use(i)
	g.order.push(i)
	g.bytes += g.space(i)
	g.left.objects++
}

func (g *gdsf) evict() {
	i := g.order.pop()
	o := &g.ranked[i]
	g.clock = o.priority
	g.bytes -= g.space(i)
	g.left.objects--
	g.left.evictions++
	if !o.hit {
		g.left.neverHit++
	}
}

func (g *gdsf) drop(i uint32) (was bool) {
	if g.ranked[i].index == 0 {
		return false
	}
	g.order.remove(i)
	g.bytes -= g.space(i)
	g.left.objects--
	return true
}

func (g *gdsf) held() (objects, bytes int64) { return g.left.objects, g.bytes }

func (g *gdsf) counters() counters { return g.left }

func (g *gdsf) look(requests []trace.Access) (read uint32) {
	for _, a := range requests {
		read += g.ranked[a.Object].index
	}
	return read
}

// byPriority is a binary heap of objects, the least priority first.
type byPriority struct {
	of  []ranked
	all []uint32
}

func (h *byPriority) push(i uint32) {
	h.all = append(h.all, i)
	h.up(len(h.all) - 1)
}

// pop removes the first object, and returns it.
func (h *byPriority) pop() uint32 {
	first := h.all[0]
	h.remove(first)
	return first
}

// remove removes an object that is there.
func (h *byPriority) remove(i uint32) {
	at, last := int(h.of[i].index-1), len(h.all)-1
	h.all[at] = h.all[last]
	h.all = h.all[:last]
	if at < last {
		h.down(at)
		h.up(at)
	}
	h.of[i].index = 0
}

func (h *byPriority) less(a, b int) bool { return h.of[h.all[a]].priority < h.of[h.all[b]].priority }

// up moves the object at place at up to where it belongs.
func (h *byPriority) up(at int) {
	for parent := (at - 1) / 2; at > 0 && h.less(at, parent); parent = (at - 1) / 2 {
		h.all[at], h.all[parent] = h.all[parent], h.all[at]
		h.of[h.all[at]].index = uint32(at + 1)
		at = parent
	}
	h.of[h.all[at]].index = uint32(at + 1)
}

// down moves the object at place at down to where it belongs.
func (h *byPriority) down(at int) {
	for {
		child := 2*at + 1
		if child+1 < len(h.all) && h.less(child+1, child) {
			child++
		}
		if child >= len(h.all) || !h.less(child, at) {
			break
		}
		h.all[at], h.all[child] = h.all[child], h.all[at]
		h.of[h.all[at]].index = uint32(at + 1)
		at = child
	}
	h.of[h.all[at]].index = uint32(at + 1)
}
