package eviction

import (
	"math"
	"math/bits"
	"slices"
)

// The classes. A class of sizes is an octave, and one of uses too, up to 16 uses and more.
const (
	sizeClasses = 48
	useClasses  = 5
	classes     = sizeClasses * useClasses
)

// none is no object.
const none = math.MaxUint32

// Objects knows the objects that a Ranking orders. The number of an object is its owner's, and less than 2^32-1.
type Objects interface {
	// Uses returns how often the object was used since it was stored, the request that it was stored for included, and the tick of
	// the last use.
	Uses(object uint32) (times, last uint32)
	// Bytes returns what the object takes of the cache.
	Bytes(object uint32) int64
}

// Worth says what counts in the worth of an object beside the time since its last use.
type Worth struct {
	// Exponent says how much bytes matter, from 0, not at all, to 1.
	Exponent float64
	// Uses says that their number matters.
	Uses bool
	// Patience is how many times more than a newcomer the objects that go for it may be worth. An interval is shorter than what comes
	// after it, where requests come in bursts, so it is more than 1. With 0 newcomers do not compete.
	Patience float64
}

// Recency is the worth by which the object goes that was not used for the longest time (LRU), and every newcomer is stored.
func Recency() Worth { return Worth{} }

// Balanced is the worth between Hits and Bytes. All three were chosen by make evict; see
// docs/decisions/0144-a-cache-gives-up-what-is-worth-least.md.
func Balanced() Worth { return Worth{Exponent: 0.35, Uses: true, Patience: 4} }

// Hits is the worth for many hits, of smaller objects.
func Hits() Worth { return Worth{Exponent: 0.5, Uses: true, Patience: 4} }

// Bytes is the worth for many bytes of hits.
func Bytes() Worth { return Worth{Exponent: 0.2, Uses: true, Patience: 16} }

// Ranking orders objects by their worth. Its memory is 16 bytes for each number up to the largest one. One goroutine at a time uses
// it; Objects may change in the meantime.
type Ranking struct {
	objects Objects
	nodes   []node
	lists   [classes]list
	filled  [(classes + 63) / 64]uint64 // which lists have an object
	weight  [classes]float64            // weight of an object whose last use was one tick ago
	rivals  []uint32                    // memory of Outweigh

	patience float64
}

// node is the place of one object.
type node struct {
	older, newer uint32
	since        uint32 // the tick of the last use when it got this place
	class        uint16
}

// list is the objects of a class, by the tick of their last use as far as that is known.
type list struct {
	oldest, newest uint32
	since          uint32 // tick of the oldest
}

// NewRanking returns an empty Ranking.
func NewRanking(w Worth, objects Objects) *Ranking {
	r := &Ranking{objects: objects}
	for c := range r.lists {
		r.lists[c] = list{oldest: none, newest: none}
	}
	r.Weigh(w)
	return r
}

// Weigh changes what counts. The objects stay.
func (r *Ranking) Weigh(w Worth) {
	r.patience = w.Patience
	for c := range r.weight {
		size, uses := c/useClasses, c%useClasses
		r.weight[c] = 1 / math.Exp2(w.Exponent*float64(size))
		if w.Uses {
			r.weight[c] *= float64(1 + uses)
		}
	}
}

// Add adds an object that is not there.
func (r *Ranking) Add(object uint32) {
	for int(object) >= len(r.nodes) {
		r.nodes = append(r.nodes, node{})
	}
	times, last := r.objects.Uses(object)
	r.place(object, r.classOf(object, times), last)
}

func (r *Ranking) classOf(object, times uint32) uint16 {
	size := min(bits.Len64(uint64(max(r.objects.Bytes(object), 0))), sizeClasses-1)
	return uint16(size*useClasses + useClass(times))
}

// useClass is the logarithm of times, up to the last class.
func useClass(times uint32) int { return min(bits.Len32(max(times, 1))-1, useClasses-1) }

// place makes object the newest of a class.
func (r *Ranking) place(object uint32, class uint16, since uint32) {
	l := &r.lists[class]
	r.nodes[object] = node{older: l.newest, newer: none, since: since, class: class}
	if l.newest == none {
		l.oldest, l.since = object, since
		r.filled[class/64] |= 1 << (class % 64)
	} else {
		r.nodes[l.newest].newer = object
	}
	l.newest = object
}

// Remove removes an object that is there.
func (r *Ranking) Remove(object uint32) {
	n := &r.nodes[object]
	l := &r.lists[n.class]
	if n.newer == none {
		l.newest = n.older
	} else {
		r.nodes[n.newer].older = n.older
	}
	if n.older != none {
		r.nodes[n.older].newer = n.newer
		return
	}
	if l.oldest = n.newer; l.oldest == none {
		r.filled[n.class/64] &^= 1 << (n.class % 64)
	} else {
		l.since = r.nodes[l.oldest].since
	}
}

// giveBack makes object, which was removed and not used since, the oldest of its class again.
func (r *Ranking) giveBack(object uint32) {
	n := &r.nodes[object]
	l := &r.lists[n.class]
	n.older, n.newer = none, l.oldest
	if l.oldest == none {
		l.newest = object
		r.filled[n.class/64] |= 1 << (n.class % 64)
	} else {
		r.nodes[l.oldest].older = object
	}
	l.oldest, l.since = object, n.since
}

// Next removes the object of least worth at this tick, and returns it; false if there is none.
func (r *Ranking) Next(now uint32) (object uint32, ok bool) {
	for {
		class := r.least(now)
		if class < 0 {
			return 0, false
		}
		object = r.lists[class].oldest
		times, last := r.objects.Uses(object)
		used := last != r.nodes[object].since
		r.Remove(object)
		if !used {
			return object, true
		}
		r.place(object, r.classOf(object, times), last)
	}
}

// least returns the class whose oldest object is worth least, -1 if there is none.
func (r *Ranking) least(now uint32) int {
	best, least := -1, math.Inf(1)
	for i, word := range r.filled {
		for ; word != 0; word &= word - 1 {
			class := i*64 + bits.TrailingZeros64(word)
			if worth := r.weight[class] / age(now, r.lists[class].since); worth < least {
				best, least = class, worth
			}
		}
	}
	return best
}

// age is the time since a tick, with the tick that runs.
func age(now, since uint32) float64 { return float64(now-since) + 1 }

// Newcomer is an object that is to be stored.
type Newcomer struct {
	Bytes    int64   // bytes that it takes of the cache
	Times    uint32  // how often it was asked for, with the request that it is stored for; 1 or more
	Interval float64 // ticks since it was asked for before
}

// mostRivals is how many objects a newcomer is compared with. Where more would have to go, the others are taken for as many.
const mostRivals = 256

// Outweigh reports whether the objects that would go for the bytes of a newcomer are together worth more than it. They stay. This
// worth leaves sizes out, for the newcomer takes the room of all of them.
func (r *Ranking) Outweigh(c Newcomer, now uint32) bool {
	if r.patience == 0 {
		return false
	}
	most := r.patience * float64(1+useClass(c.Times)) / (c.Interval + 1)
	bytes, worth := int64(0), 0.0
	for r.rivals = r.rivals[:0]; bytes < c.Bytes && worth <= most && len(r.rivals) < mostRivals; {
		object, ok := r.Next(now)
		if !ok {
			break
		}
		r.rivals = append(r.rivals, object)
		n := &r.nodes[object]
		bytes += max(r.objects.Bytes(object), 1)
		worth += float64(1+n.class%useClasses) / age(now, n.since)
	}
	for _, object := range slices.Backward(r.rivals) {
		r.giveBack(object)
	}
	if len(r.rivals) == mostRivals && bytes < c.Bytes {
		worth *= float64(c.Bytes) / float64(bytes)
	}
	return worth > most
}
