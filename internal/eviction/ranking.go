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

// Ranking orders objects by their worth. Its memory is 16 bytes for each number up to the largest one. One goroutine at a time uses
// it; Objects may change in the meantime.
type Ranking struct {
	objects Objects
	nodes   []node
	lists   [classes]list
	filled  [(classes + 63) / 64]uint64 // which lists have an object
	weight  [classes]float64            // of an object whose last use was one tick ago
	yielded []uint32                    // room for the result of Yield
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
	since          uint32 // of the oldest
}

// NewRanking returns an empty Ranking. The exponent says how much sizes matter, from 0 to 1.
func NewRanking(exponent float64, objects Objects) *Ranking {
	r := &Ranking{objects: objects}
	for c := range r.lists {
		r.lists[c] = list{oldest: none, newest: none}
		size, uses := c/useClasses, c%useClasses
		r.weight[c] = float64(1+uses) / math.Exp2(exponent*float64(size))
	}
	return r
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
	Times    uint32  // how often it was asked for, with the request that it is stored for; 1 or more
	Interval float64 // ticks since it was asked for before
}

// patience is how many times more than they the objects that go for a newcomer may be worth. An interval is shorter than
// what comes after it, where requests come in bursts.
const patience = 2

// Yield removes the objects of least worth that have so many bytes together, if the newcomer is worth more than all of them, and returns
// them. Otherwise it removes none, and returns false. This worth leaves sizes out, for the newcomer takes the room of all of them. The
// result is valid until the next call.
func (r *Ranking) Yield(bytes int64, c Newcomer, now uint32) (objects []uint32, ok bool) {
	most := patience * float64(1+useClass(c.Times)) / (c.Interval + 1)
	objects, ok = r.yielded[:0], true
	for bytes > 0 && ok {
		object, found := r.Next(now)
		if !found {
			break
		}
		objects = append(objects, object)
		n := &r.nodes[object]
		bytes -= r.objects.Bytes(object)
		most -= float64(1+n.class%useClasses) / age(now, n.since)
		ok = most > 0
	}
	r.yielded = objects
	if !ok {
		for _, object := range slices.Backward(objects) {
			r.giveBack(object)
		}
		return nil, false
	}
	return objects, true
}
