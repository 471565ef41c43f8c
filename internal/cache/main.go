package cache

import "fmt"

// mainPart is what lies behind the window. Anyone may call find, look, holds, peek and each; the rest is the writer's.
type mainPart struct {
	keeper
	blocks blocks
	cost   func(*Object) int64             // at which it landed; see Store.costLocked
	book   func(departure, *Object, int64) // counts a departure; see Store.leftLocked
}

// keeper finds the Objects of the main part, and decides which of them stay. It knows them by their numbers in blocks. Anyone may
// call look, holds, peek and numbers; the rest is the writer's.
type keeper interface {
	// look returns the entry under k, nil if there is none. It may count it as a sign of demand, also if there is none. Where it
	// returns nil, left says that there was an entry a moment ago. That has left, possibly for an entry under the same key elsewhere.
	look(k Key) (it *Object, left bool)
	// holds reports whether there is an entry under k, or maybe another one that is hard to tell from it. It counts no demand.
	holds(k Key) bool
	// peek is look that counts no demand.
	peek(k Key) *Object
	// rival returns what would have to leave for an entry under k, nil if nothing.
	rival(k Key) *Object
	// keep takes all, of which no two are rivals, and none has one. When it returns, each is found, or was counted as rejected or
	// evicted, and whatever had to leave for them has left. The bytes held never exceed the most by more than those of all, which
	// their owner still counts.
	keep(all []*Object, costs []int64)
	// drop takes out it, which is there, without counting it. Its number is free after that.
	drop(it *Object)
	// numbers calls visit with the numbers of what is there for the whole call, until visit returns true.
	numbers(visit func(n uint32) (stop bool))
	// used returns the bytes held.
	used() int64
	close()
}

func newMainPart(o Options, maxCost int64, cost func(*Object) int64, book func(departure, *Object, int64)) (*mainPart, error) {
	m := &mainPart{cost: cost, book: book}
	m.blocks.fit(maxCost)
	if o.Eviction != Ristretto {
		m.keeper = newRanked(m, maxCost, worth(o.Eviction, o.Optimise), o.Now)
		return m, nil
	}
	k, err := newSampled(m, maxCost)
	if err != nil {
		return nil, fmt.Errorf("cache: start ristretto with %d bytes: %w", maxCost, err)
	}
	m.keeper = k
	return m, nil
}

// find returns the entry under k, nil if there is none. With ristretto it is a sign of demand, also on a miss and
// when the writer asks. That favours new entries a little. It gains more hits when popularity drifts (1.8 to 3 in 100
// in a cache of 2 % of all bytes) than it costs when it does not (1 in 100).
func (m *mainPart) find(k Key) *Object {
	it, _ := m.look(k)
	return it
}

// offer hands all, of which no two are rivals, to the keeper. When it returns, each is found here or was counted
// as rejected or evicted, and whatever had to leave for them has left.
func (m *mainPart) offer(all []*Object) {
	var costs [mostOffered]int64
	for i, it := range all {
		costs[i] = m.cost(it)
		if other := m.rival(it.key); other != nil {
			m.remove(other)
			m.book(capacity, other, m.cost(other))
		}
		m.blocks.offered(it)
	}
	m.keep(all, costs[:len(all)])
}

// mostOffered is the most that offer takes at once.
const mostOffered = 16

// remove takes out it, which find has just returned, without counting it.
func (m *mainPart) remove(it *Object) {
	m.drop(it)
	m.blocks.release(it)
}

// left counts the departure of it, which the keeper does not find any more.
func (m *mainPart) left(it *Object, why departure, cost int64) {
	m.blocks.release(it)
	m.book(why, it, cost)
}

// settle moves it, which was offered, to where it is to stay.
func (m *mainPart) settle(it *Object) {
	if it.place != 0 { // else it has left already
		m.blocks.pack(it)
	}
	m.blocks.tidy()
}

// each calls visit with everything that is there for the whole call. Visit is called without a lock. Expected is about how many there
// are: growing the list under a lock would take longer.
func (m *mainPart) each(expected int64, visit func(*Object)) {
	all := make([]uint32, 0, expected+expected/16+1024)
	m.numbers(func(n uint32) bool {
		all = append(all, n)
		return false
	})
	for _, n := range all {
		if o := m.blocks.at(n); o != nil {
			visit(o)
		}
	}
}
