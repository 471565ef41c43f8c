package model

import (
	"math/rand/v2"

	"edgeproxy/internal/lab/trace"
)

// drawn is how many objects clairvoyant compares.
const drawn = 64

// clairvoyant evicts what is asked for last, for it knows the future (Belady, 1966). With sizes the best choice cannot be found in
// reasonable time, so this is a good one, and others could do a little better. It stores what is asked for again, unless all that it
// would have to evict is of more use. It evicts, of some that it draws, the object with the most bytes times requests until it is
// asked for again: it goes for hits, and others may have more bytes of hits. It does not foresee what expires. The seed
// is fixed, so all Runs of the same requests agree.
type clairvoyant struct {
	objects  []trace.Object
	future   *Future
	rng      *rand.Rand
	known    []known
	in       []uint32 // the objects held
	now      int64    // number of the current request
	bytes    int64
	maxBytes int64
	left     counters
}

// known is what clairvoyant knows of an object.
type known struct {
	next int64  // the number of its next request
	at   uint32 // its place among the objects held, plus 1; 0: it is not there
	hit  bool   // hit since it was stored
}

func newClairvoyant(capacity int64, in Input) *clairvoyant {
	return &clairvoyant{
		objects: in.Objects, future: in.Future, rng: rand.New(rand.NewPCG(5, 0)),
		known: make([]known, len(in.Objects)), now: -1, maxBytes: capacity,
	}
}

func (c *clairvoyant) space(i uint32) int64 { return max(c.objects[i].Size, 1) }

func (c *clairvoyant) hit(i uint32) bool {
	c.now++
	k := &c.known[i]
	k.next = c.future.next(c.now)
	if k.at == 0 {
		return false
	}
	k.hit = true
	return true
}

func (c *clairvoyant) holds(i uint32) bool { return c.known[i].at != 0 }

// cost is the bytes and the time that object i takes until it is asked for again.
func (c *clairvoyant) cost(i uint32) float64 {
	return float64(c.space(i)) * float64(c.known[i].next-c.now)
}

// takes makes room for i, and reports whether i is of more use than what would have to go.
func (c *clairvoyant) takes(i uint32) bool {
	if c.known[i].next == never {
		return false
	}
	for c.bytes+c.space(i) > c.maxBytes {
		victim := c.draw()
		if c.cost(victim) < c.cost(i) {
			return false
		}
		c.evict(victim)
	}
	return true
}

// draw returns the object of the highest cost of some that are held. There is at least one.
func (c *clairvoyant) draw() uint32 {
	victim := c.in[c.rng.IntN(len(c.in))]
	for range drawn - 1 {
		if other := c.in[c.rng.IntN(len(c.in))]; c.cost(other) > c.cost(victim) {
			victim = other
		}
	}
	return victim
}

func (c *clairvoyant) store(i uint32) {
	c.in = append(c.in, i)
	k := &c.known[i]
	k.at, k.hit = uint32(len(c.in)), false
	c.bytes += c.space(i)
}

func (c *clairvoyant) evict(i uint32) {
	c.drop(i)
	c.left.evictions++
	if !c.known[i].hit {
		c.left.neverHit++
	}
}

func (c *clairvoyant) drop(i uint32) (was bool) {
	k := &c.known[i]
	if k.at == 0 {
		return false
	}
	last := c.in[len(c.in)-1]
	c.in[k.at-1] = last
	c.known[last].at = k.at
	c.in = c.in[:len(c.in)-1]
	k.at = 0
	c.bytes -= c.space(i)
	return true
}

func (c *clairvoyant) held() (objects, bytes int64) { return int64(len(c.in)), c.bytes }

func (c *clairvoyant) counters() counters {
	out := c.left
	out.objects = int64(len(c.in))
	return out
}

func (c *clairvoyant) look(requests []trace.Access) (read uint32) {
	for _, a := range requests {
		read += c.known[a.Object].at
	}
	return read
}
