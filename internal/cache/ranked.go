package cache

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"edgeproxy/internal/eviction"
)

// ranked is the keeper that gives up what is worth least by uses, recency and size (package eviction). A look-up takes no lock and
// changes nothing here: Object.use notes it in the Object.
//
// The index is an array of chains of numbers. The writer changes one link at a time. An Object that leaves keeps its own link, so a
// look-up that has reached it continues along the chain. Once its number is taken by another Object, such a look-up may go astray.
// So a look-up that found nothing begins anew if an Object has left meanwhile.
type ranked struct {
	main    *mainPart
	chains  []atomic.Uint32      // a power of two; the first number of each chain, 0: it is empty
	links   table[atomic.Uint64] // by number: the low word of Key.Hi in the upper half, the next number in the lower
	leaves  atomic.Uint64        // how many have left so far
	ranking *eviction.Ranking    // of numbers
	costs   []int64              // by number, at which it was taken in
	bytes   int64                // sum of the costs of what is held
	most    int64
	tick    atomic.Uint32 // the time by which uses are noted
	landed  int64         // writes since the last tick
	objects int64
}

// bytesPerLink sizes the chains: 0.2 to 0.4 % of the bytes.
const bytesPerLink = 2048

func newRanked(m *mainPart, most int64) *ranked {
	r := &ranked{main: m, most: most, chains: make([]atomic.Uint32, 1<<bits.Len64(uint64(most/bytesPerLink)))}
	r.ranking = eviction.NewRanking(sizeExponent, r)
	return r
}

// sizeExponent is that of the worth: see docs/decisions/0144-a-cache-gives-up-what-is-worth-least.md.
const sizeExponent = 0.35

// ticksHeld is about how many ticks it takes to write as many entries as are held.
const ticksHeld = 4096

// advance notes a write, and returns the time. Time passes by writes: a cache in which everything stays has no need of time.
func (r *ranked) advance() (tick uint32) {
	if r.landed++; r.landed*ticksHeld >= r.objects {
		r.landed = 0
		r.tick.Add(1)
	}
	return r.tick.Load()
}

// Uses is that of eviction.Objects.
func (r *ranked) Uses(n uint32) (times, last uint32) {
	o := r.main.blocks.at(n)
	return 1 + o.timesUsed(), o.used.Load()
}

// Bytes is that of eviction.Objects.
func (r *ranked) Bytes(n uint32) int64 { return r.costs[n] }

func (r *ranked) chain(k Key) *atomic.Uint32 { return &r.chains[k.Lo&uint64(len(r.chains)-1)] }

func (r *ranked) look(k Key) (it *Object, left bool) {
	for {
		leaves := r.leaves.Load()
		for n := r.chain(k).Load(); n != 0; {
			link := r.links.at(n).Load()
			if uint32(link>>32) == uint32(k.Hi) { //nolint:gosec // the halves
				if it = r.main.blocks.at(n); it == nil {
					return nil, true
				}
				if it.key == k {
					return it, false
				}
			}
			n = uint32(link) //nolint:gosec // the lower half
		}
		if r.leaves.Load() == leaves {
			return nil, false
		}
	}
}

func (r *ranked) holds(k Key) bool {
	it, left := r.look(k)
	return it != nil || left
}

func (r *ranked) peek(k Key) *Object {
	it, _ := r.look(k)
	return it
}

func (r *ranked) rival(k Key) *Object { return r.peek(k) }

func (r *ranked) keep(all []*Object, costs []int64) {
	for i, it := range all {
		for r.bytes+costs[i] > r.most {
			n, ok := r.ranking.Next(r.tick.Load())
			if !ok { // it alone is larger than all
				break
			}
			victim := r.main.blocks.at(n)
			r.takeOut(victim)
			r.main.left(victim, capacity, r.costs[n])
		}
		if r.bytes+costs[i] > r.most {
			r.main.left(it, rejected, costs[i])
			continue
		}
		r.takeIn(it, costs[i])
	}
}

// takeIn adds it to the chain and to the ranking.
func (r *ranked) takeIn(it *Object, cost int64) {
	n := it.place
	for r.links.taken < n {
		r.links.take()
	}
	for int(n) >= len(r.costs) {
		r.costs = append(r.costs, 0)
	}
	r.costs[n] = cost
	r.bytes += cost
	r.objects++
	chain := r.chain(it.key)
	r.links.at(n).Store(uint64(uint32(it.key.Hi))<<32 | uint64(chain.Load())) //nolint:gosec // the lower half
	chain.Store(n)
	r.ranking.Add(n)
}

// takeOut removes it from its chain.
func (r *ranked) takeOut(it *Object) {
	next := uint64(uint32(r.links.at(it.place).Load())) //nolint:gosec // the lower half
	chain := r.chain(it.key)
	if chain.Load() == it.place {
		chain.Store(uint32(next)) //nolint:gosec // the lower half
	} else {
		n := chain.Load()
		for uint32(r.links.at(n).Load()) != it.place { //nolint:gosec // the lower half
			n = uint32(r.links.at(n).Load()) //nolint:gosec // the lower half
		}
		before := r.links.at(n)
		before.Store(before.Load()>>32<<32 | next)
	}
	r.leaves.Add(1)
	r.bytes -= r.costs[it.place]
	r.objects--
}

func (r *ranked) drop(it *Object) {
	r.ranking.Remove(it.place)
	r.takeOut(it)
}

func (r *ranked) numbers(visit func(n uint32) bool) {
	var all []uint32
	for i := range r.chains {
		for {
			leaves := r.leaves.Load()
			all = all[:0]
			for n := r.chains[i].Load(); n != 0; n = uint32(r.links.at(n).Load()) { //nolint:gosec // the lower half
				all = append(all, n)
			}
			if len(all) == 0 || r.leaves.Load() == leaves {
				break
			}
		}
		if slices.ContainsFunc(all, visit) {
			return
		}
	}
}

func (r *ranked) used() int64 { return r.bytes }

func (r *ranked) close() {}
