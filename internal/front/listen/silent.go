package listen

import (
	"container/heap"
	"container/list"
	"net"
	"net/netip"

	"edgeproxy/internal/route/client"
)

// silentSet is the set of connections whose clients have sent nothing yet. A T is one of them.
//
// If there are too many, chooseVictim returns the one to drop: the oldest connection of the
// client with the most, within the network with the most. So a flood pushes out its own
// connections, and a connection from elsewhere stays. An honest client with the address of the
// flood says something within a round trip, before its connection is the oldest. If several
// networks or clients have equally many, the one that has been in the set for longest is
// taken. Adding, removing and choosing take O(log n).
//
// It has no lock: its owner locks it. The zero silentSet is empty.
type silentSet[T any] struct{ all group[T] }

// silentEntry is one element of a silentSet.
type silentEntry[T any] struct {
	value  T
	client *group[T]
	at     *list.Element // among the client's; nil: no longer there
}

// inSet reports whether p is still in its set.
func (p *silentEntry[T]) inSet() bool { return p != nil && p.at != nil }

// remove removes p from its set. It does nothing if p is nil or was removed before.
func (p *silentEntry[T]) remove() {
	if p.inSet() {
		p.client.places.Remove(p.at)
		p.at = nil
		p.client.change(-1)
	}
}

// group is a client with its entries, a network with its clients, or all networks.
type group[T any] struct {
	name   netip.Prefix
	within *group[T] // nil: all
	count  int
	since  uint64 // number of the add that has made it
	index  int    // in within.most

	most   ranking[T]                 // the groups within, the one with the most first
	byName map[netip.Prefix]*group[T] // the same
	places list.List                  // entries of a client, each a *silentEntry[T], the newest at the back
	adds   uint64                     // number of all that were added
}

// ranking is a heap of groups.
type ranking[T any] []*group[T]

func (r ranking[T]) Len() int { return len(r) }

func (r ranking[T]) Less(i, j int) bool {
	if r[i].count != r[j].count {
		return r[i].count > r[j].count
	}
	return r[i].since < r[j].since
}

func (r ranking[T]) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push implements heap.Interface.
func (r *ranking[T]) Push(g any) {
	of := g.(*group[T])
	of.index = len(*r)
	*r = append(*r, of)
}

// Pop implements heap.Interface.
func (r *ranking[T]) Pop() any {
	last := len(*r) - 1
	g := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	return g
}

// len returns how many there are.
func (s *silentSet[T]) len() int { return s.all.count }

// add adds one of a client; the zero Prefix stands for all clients without an address.
func (s *silentSet[T]) add(who netip.Prefix, value T) *silentEntry[T] {
	s.all.adds++
	of := s.all.part(client.NetworkOf(who), s.all.adds).part(who, s.all.adds)
	p := &silentEntry[T]{value: value, client: of}
	p.at = of.places.PushBack(p)
	of.change(1)
	return p
}

// chooseVictim returns the connection to drop, nil if the set is empty, and how many the set has of its
// network.
func (s *silentSet[T]) chooseVictim() (p *silentEntry[T], ofNetwork int) {
	if s.all.count == 0 {
		return nil, 0
	}
	network := s.all.most[0]
	return network.most[0].oldest(), network.count
}

// candidates returns up to n of the client of which chooseVictim returns the oldest: its oldest, the next
// ones, and behind them its newest.
func (s *silentSet[T]) candidates(n int) (found []*silentEntry[T]) {
	if s.all.count == 0 {
		return nil
	}
	places := &s.all.most[0].most[0].places
	for e := places.Front(); e != places.Back() && len(found) < n-1; e = e.Next() {
		found = append(found, e.Value.(*silentEntry[T]))
	}
	return append(found, places.Back().Value.(*silentEntry[T]))
}

// oldestOfClient returns the connection of p's client that has been in the set for longest, and how many that client has.
func (p *silentEntry[T]) oldestOfClient() (oldest *silentEntry[T], n int) {
	return p.client.oldest(), p.client.count
}

// values returns all.
func (s *silentSet[T]) values() []T {
	out := make([]T, 0, s.all.count)
	for _, network := range s.all.most {
		for _, client := range network.most {
			for e := client.places.Front(); e != nil; e = e.Next() {
				out = append(out, e.Value.(*silentEntry[T]).value)
			}
		}
	}
	return out
}

// oldest returns the first entry of g, which is a client with entries.
func (g *group[T]) oldest() *silentEntry[T] { return g.places.Front().Value.(*silentEntry[T]) }

// part returns the group of this name within g. It makes the group if there is none, and
// notes that it was made by this add.
func (g *group[T]) part(name netip.Prefix, add uint64) *group[T] {
	if of := g.byName[name]; of != nil {
		return of
	}
	of := &group[T]{name: name, within: g, since: add}
	if g.byName == nil {
		g.byName = map[netip.Prefix]*group[T]{}
	}
	g.byName[name] = of
	heap.Push(&g.most, of)
	return of
}

// change counts one more or less, in g and in the groups that g is within. An empty group is
// removed.
func (g *group[T]) change(by int) {
	for ; g != nil; g = g.within {
		g.count += by
		switch {
		case g.within == nil:
		case g.count == 0:
			heap.Remove(&g.within.most, g.index)
			delete(g.within.byName, g.name)
		default:
			heap.Fix(&g.within.most, g.index)
		}
	}
}

// closeRead shuts down the reading side of a connection. Its reader then reads io.EOF and closes the
// connection. Close would wait for the reader; closeRead does not. A request that has just come is
// still served.
func closeRead(conn net.Conn) {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		_ = c.CloseRead() // if it fails the connection has ended
		return
	}
	_ = conn.Close()
}
