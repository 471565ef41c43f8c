package listen

import (
	"container/heap"
	"container/list"
	"net"
	"net/netip"
)

// What counts as one network, where many clients come from one.
const (
	network4 = 24
	network6 = 48
)

// silent are those that have come and said nothing yet: T stands for one of them. Where
// there are too many, the one to let go is the newest, of the client with the most, of
// the network with the most. So who floods takes the places of its own, and who has come
// from elsewhere, or before, keeps its own. Where several have the most it is the one that
// has come first to have any. Adding, removing and choosing take O(log n).
//
// It has no lock: who has it locks it. The zero silent is empty.
type silent[T any] struct{ all group[T] }

// place is one that is among the silent.
type place[T any] struct {
	value  T
	client *group[T]
	at     *list.Element // among the client's; nil: no longer there
}

// held reports whether it is still there.
func (p *place[T]) held() bool { return p != nil && p.at != nil }

// leave takes it out. One that is out already, and nil, is nothing to do.
func (p *place[T]) leave() {
	if p.held() {
		p.client.places.Remove(p.at)
		p.at = nil
		p.client.change(-1)
	}
}

// group is a client with those that are of it, a network with its clients, or all networks.
type group[T any] struct {
	name   netip.Prefix
	within *group[T] // nil: all
	count  int
	since  uint64 // which add has made it
	index  int    // in within.most

	most   ranking[T]                 // the groups within, the one with the most first
	byName map[netip.Prefix]*group[T] // the same
	places list.List                  // of *place[T], the newest at the back; of a client
	adds   uint64                     // of all
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
func (s *silent[T]) len() int { return s.all.count }

// add takes in one more, of a client; the zero Prefix is whoever has no address.
func (s *silent[T]) add(client netip.Prefix, value T) *place[T] {
	s.all.adds++
	of := s.all.part(networkOf(client), s.all.adds).part(client, s.all.adds)
	p := &place[T]{value: value, client: of}
	p.at = of.places.PushBack(p)
	of.change(1)
	return p
}

// choose returns the one to let go, nil where there is none, and how many are of its
// network.
func (s *silent[T]) choose() (p *place[T], ofNetwork int) {
	if s.all.count == 0 {
		return nil, 0
	}
	network := s.all.most[0]
	return network.most[0].places.Back().Value.(*place[T]), network.count
}

// values returns all.
func (s *silent[T]) values() []T {
	out := make([]T, 0, s.all.count)
	for _, network := range s.all.most {
		for _, client := range network.most {
			for e := client.places.Front(); e != nil; e = e.Next() {
				out = append(out, e.Value.(*place[T]).value)
			}
		}
	}
	return out
}

// part returns the group of this name within g, which the add of this number makes if it
// is not there.
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

// change counts one more or less, here and in what g is within. A group of none is no more.
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

// networkOf returns the network of a client.
func networkOf(client netip.Prefix) netip.Prefix {
	bits := network4
	if client.Addr().Is6() {
		bits = network6
	}
	n, err := client.Addr().Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return n
}

// hangUp has whoever reads from a connection come to its end, and close it. It waits for
// nobody, which Close does for the reader, and a request that has come just now is
// still served.
func hangUp(conn net.Conn) {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		_ = c.CloseRead() // if it fails the connection has ended
		return
	}
	_ = conn.Close()
}
