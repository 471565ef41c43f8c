package model

import (
	"math/rand/v2"
	"slices"

	"edgeproxy/internal/lab/trace"
)

// naiveFleet is a FleetRun said as plainly as possible.
type naiveFleet struct {
	f      Fleet
	edges  []*naive
	draw   *rand.Rand
	owners []uint8
	every  int

	batch   []told
	digests []map[uint32]bool // what each edge has published

	got Result
}

// told is a request, and the edge that had it.
type told struct {
	a  trace.Access
	at int
}

func newNaiveFleet(f Fleet, s Setting, objects []trace.Object, every int) *naiveFleet {
	n := &naiveFleet{f: f, draw: rand.New(rand.NewPCG(1, 0)), owners: f.owners(objects), every: every}
	for range f.Nodes {
		n.edges = append(n.edges, newNaive(s, objects))
		n.digests = append(n.digests, map[uint32]bool{})
	}
	return n
}

func (n *naiveFleet) request(a trace.Access) {
	owner := int(n.owners[a.Object])
	at := owner
	if n.f.Balance == BalanceRandom {
		at = n.draw.IntN(n.f.Nodes)
	}
	e, sent := n.edges[at], n.edges[at].objects[a.Object].Size
	if a.Head {
		sent = 0
	}
	n.got.Requests++
	n.got.RequestBytes += sent
	o, admit := e.lookUp(a)
	n.count(o, a, sent)
	switch {
	case o != missed:
		n.got.Hits++
		n.got.HitBytes += sent
	case n.f.Share == SharePlacement && owner != at:
		n.got.PeerRequests++
		n.got.PeerBytes += sent
		theirs := n.edges[owner].request(a)
		n.count(theirs, a, sent)
		if theirs == Hit || theirs == StageHit || theirs == Promoted {
			n.got.Hits++
			n.got.HitBytes += sent
		} else {
			n.got.OriginRequests++
			n.got.OriginBytes += sent
		}
		if !a.Head {
			n.count(e.fill(a, admit), a, sent)
		}
	case n.f.Share == ShareDigests && n.sibling(a.Object, at) >= 0:
		n.got.PeerRequests++
		sibling := n.edges[n.sibling(a.Object, at)]
		if !sibling.main.hit(a.Object) && !slices.Contains(sibling.stage, a.Object) {
			n.origin(e, a, admit, sent)
			break
		}
		n.got.PeerBytes += sent
		n.got.Hits++
		n.got.HitBytes += sent
		if !a.Head {
			n.count(e.fill(a, admit), a, sent)
		}
	default:
		n.origin(e, a, admit, sent)
	}
	n.exchange(told{a, at})
}

func (n *naiveFleet) origin(e *naive, a trace.Access, admit bool, sent int64) {
	n.got.OriginRequests++
	n.got.OriginBytes += sent
	n.count(e.fill(a, admit), a, sent)
}

// sibling returns the first edge behind at, and round again, whose digest has the object; -1 if none has.
func (n *naiveFleet) sibling(i uint32, at int) int {
	for k := 1; k < n.f.Nodes; k++ {
		if s := (at + k) % n.f.Nodes; n.digests[s][i] {
			return s
		}
	}
	return -1
}

// exchange does what is due after a batch.
func (n *naiveFleet) exchange(t told) {
	if n.batch = append(n.batch, t); len(n.batch) < n.every {
		return
	}
	for at, e := range n.edges {
		for _, one := range n.batch {
			if n.f.Share == ShareSightings && one.at != at {
				one.a.At = t.a.At
				e.admits(one.a)
			}
		}
		n.digests[at] = map[uint32]bool{}
		for i := range e.objects {
			if e.holds(uint32(i)) {
				n.digests[at][uint32(i)] = true
			}
		}
	}
	n.batch = nil
}

// count counts what became of a response.
func (n *naiveFleet) count(o Outcome, a trace.Access, sent int64) {
	switch o {
	case Stored, Promoted:
		n.got.Writes++
		n.got.WriteBytes += n.edges[0].objects[a.Object].Size
		if o == Promoted {
			n.got.Promotions++
		}
	case Staged:
		n.got.StageWrites++
		n.got.StageWriteBytes += sent
		fallthrough
	case HeldBack:
		n.got.HeldBack++
		n.got.HeldBackBytes += sent
	case TooLarge:
		n.got.TooLarge++
	case HeadMiss:
		n.got.HeadMisses++
	default:
	}
}

// holds reports whether the object is in the main part or in the stage.
func (n *naive) holds(i uint32) bool {
	in := slices.Contains(n.stage, i)
	switch m := n.main.(type) {
	case *naiveLRU:
		return in || slices.Contains(m.held, i)
	case *naiveSieve:
		return in || slices.Contains(m.held, i)
	case *naiveS3:
		return in || slices.Contains(m.small, i) || slices.Contains(m.large, i)
	case *naiveGDSF:
		return in || slices.Contains(m.held, i)
	}
	panic("a main part of another kind")
}
