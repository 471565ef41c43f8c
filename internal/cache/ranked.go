package cache

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"edgeproxy/internal/cache/internal/eviction"
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
	links   table[atomic.Uint64] // under its number: the low word of Key.Hi in the upper half, the next number in the lower
	leaves  atomic.Uint64        // how many have left so far
	ranking *eviction.Ranking    // ranking of the numbers
	costs   []int64              // cost under each number, at which it was taken in
	until   []uint32             // under each number, the second from which its entry is of no use; 0: there is no entry, or nobody knows
	hand    uint32               // the number that is looked at next for that
	now     func() time.Time     // nil: nothing is ever of no use
	bytes   int64                // sum of the costs of what is held
	most    int64
	tick    atomic.Uint32 // the time by which uses are noted
	landed  int64         // entries that came since the last tick
	objects int64
	lost    []uint64 // see lostAt
}

// bytesPerLink sizes the chains: 0.2 to 0.4 % of the bytes.
const bytesPerLink = 2048

func newRanked(m *mainPart, most int64, w eviction.Worth, now func() time.Time) *ranked {
	r := &ranked{main: m, most: most, now: now, chains: make([]atomic.Uint32, 1<<bits.Len64(uint64(most/bytesPerLink)))}
	r.ranking = eviction.NewRanking(w, r)
	r.lost = make([]uint64, 1<<bits.Len64(uint64(most/bytesPerLost)))
	return r
}

// ticksHeld is about how many ticks it takes to write as many entries as are held.
const ticksHeld = 4096

// advance notes that an entry has landed or was outweighed, and returns the time. So time passes as entries come: a cache in which
// everything stays has no need of time.
func (r *ranked) advance() (tick uint32) {
	if r.landed++; r.landed*ticksHeld >= r.objects {
		r.landed = 0
		r.tick.Add(1)
	}
	return r.tick.Load()
}

// bytesPerLost sizes the memory of what was outweighed: 0.05 to 0.1 % of the bytes.
const bytesPerLost = 16 << 10

// lostAt returns the tick at which the entry under k was outweighed last, false if that is not known. It is a table without chains:
// the upper half of a place is of the key, the lower half is the tick.
func (r *ranked) lostAt(k Key) (tick uint32, ok bool) {
	v := *r.lostPlace(k)
	return uint32(v), v != 0 && uint32(v>>32) == uint32(k.Hi) //nolint:gosec // the halves
}

// loses notes that the entry under k was outweighed.
func (r *ranked) loses(k Key) {
	*r.lostPlace(k) = uint64(uint32(k.Hi))<<32 | uint64(r.advance()) //nolint:gosec // the lower half
}

func (r *ranked) lostPlace(k Key) *uint64 { return &r.lost[k.Lo&uint64(len(r.lost)-1)] }

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
		r.makeRoom(costs[i])
		if r.bytes+costs[i] > r.most { // it alone is larger than all
			r.main.left(it, rejected, costs[i])
			continue
		}
		r.takeIn(it, costs[i])
	}
}

// makeRoom evicts until cost more bytes fit, or nothing is left. What is of no use any more goes first, as far as it is found.
func (r *ranked) makeRoom(cost int64) {
	if r.bytes+cost <= r.most {
		return
	}
	second := uint32(0)
	if r.now != nil {
		second = uint32(r.now().Unix()) //nolint:gosec // until 2106
	}
	for r.bytes+cost > r.most {
		n, ok := r.useless(second)
		if ok {
			r.ranking.Remove(n)
		} else if n, ok = r.ranking.Next(r.tick.Load()); !ok {
			return
		}
		victim := r.main.blocks.at(n)
		r.takeOut(victim)
		r.main.left(victim, capacity, r.costs[n])
	}
}

// mostLookedAt is how many numbers an eviction looks at for what is of no use any more: what has expired, and is not kept for
// validation. So all are looked at while an eighth of them leaves.
const mostLookedAt = 8

// useless returns the number of something that is of no use at this second, if it finds one.
func (r *ranked) useless(second uint32) (n uint32, ok bool) {
	for range min(mostLookedAt, len(r.until)) {
		if r.hand++; int(r.hand) >= len(r.until) {
			r.hand = 0
		}
		if until := r.until[r.hand]; until != 0 && until <= second {
			return r.hand, true
		}
	}
	return 0, false
}

// takeIn adds it to the chain and to the ranking.
func (r *ranked) takeIn(it *Object, cost int64) {
	n := it.place
	for r.links.taken < n {
		r.links.take()
	}
	for int(n) >= len(r.costs) {
		r.costs, r.until = append(r.costs, 0), append(r.until, 0)
	}
	r.costs[n], r.until[n] = cost, it.secondOfNoUse()
	r.bytes += cost
	r.objects++
	chain := r.chain(it.key)
	r.links.at(n).Store(uint64(uint32(it.key.Hi))<<32 | uint64(chain.Load())) //nolint:gosec // the lower half
	chain.Store(n)
	r.ranking.Add(n)
}

// secondOfNoUse is usefulUntil, as far as it is known and can be told in 32 bits; else 0.
func (o *Object) secondOfNoUse() uint32 {
	if o.received == neverReceived {
		return 0
	}
	if until := o.usefulUntil(); until > 0 && until <= math.MaxUint32 {
		return uint32(until)
	}
	return 0
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
	r.until[it.place] = 0
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
