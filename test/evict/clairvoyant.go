package main

import "math/rand/v2"

// This file has the eviction that knows the future. With sizes the best choice cannot be found in reasonable time, so it is a good one,
// and others could do a little better. It stores what is asked for again, unless all that it would have to evict is of more use. It
// evicts, of some that it draws, the object with the most bytes times requests until it is asked for again.

// drawn is how many objects it compares.
const drawn = 64

// never is the next request of what is not asked for again.
const never = int64(1) << 40

// oracle is a cache that knows the future.
type oracle struct {
	*requests
	rng   *rand.Rand
	next  []int64 // by object: the number of its next request
	held  []uint32
	at    []int32 // by object: its place in held, -1 without one
	bytes int64
	most  int64
}

// foresee plays r with the eviction that knows the future.
func (r *requests) foresee(bytes int64) (out outcome) {
	o := &oracle{requests: r, rng: rand.New(rand.NewPCG(5, 0)), next: make([]int64, len(r.objects)), at: make([]int32, len(r.objects)), most: bytes}
	for i := range o.at {
		o.at[i] = -1
	}
	after := r.after()
	for n, a := range r.accesses {
		i := a.Object
		size := r.objects[i].Size
		out.requests++
		out.requestBytes += size
		o.next[i] = after[n]
		switch {
		case o.at[i] >= 0:
			out.hits++
			out.hitBytes += size
		case size <= largest(bytes) && after[n] != never && o.makeRoom(i, int64(n)):
			o.add(i)
			out.writes++
			out.writeBytes += size
		}
	}
	return out
}

// after returns, for each request, the number of the next one for its object.
func (r *requests) after() []int64 {
	out, next := make([]int64, len(r.accesses)), make([]int64, len(r.objects))
	for i := range next {
		next[i] = never
	}
	for n := len(out) - 1; n >= 0; n-- {
		i := r.accesses[n].Object
		out[n], next[i] = next[i], int64(n)
	}
	return out
}

// cost is the bytes and the time that object i would take until it is asked for again.
func (o *oracle) cost(i uint32, now int64) float64 {
	return float64(max(o.objects[i].Size, 1)) * float64(o.next[i]-now)
}

// makeRoom evicts until i fits, and reports whether i is of more use than what would have to go.
func (o *oracle) makeRoom(i uint32, now int64) bool {
	for o.bytes+o.objects[i].Size > o.most {
		victim := o.held[o.rng.IntN(len(o.held))]
		for range drawn - 1 {
			if other := o.held[o.rng.IntN(len(o.held))]; o.cost(other, now) > o.cost(victim, now) {
				victim = other
			}
		}
		if o.cost(victim, now) < o.cost(i, now) {
			return false
		}
		o.remove(victim)
	}
	return true
}

func (o *oracle) add(i uint32) {
	o.at[i] = int32(len(o.held))
	o.held = append(o.held, i)
	o.bytes += o.objects[i].Size
}

func (o *oracle) remove(i uint32) {
	last := o.held[len(o.held)-1]
	o.held[o.at[i]] = last
	o.at[last] = o.at[i]
	o.held = o.held[:len(o.held)-1]
	o.at[i] = -1
	o.bytes -= o.objects[i].Size
}
