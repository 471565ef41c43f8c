package model

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"edgeproxy/internal/lab/trace"
)

// FleetRun takes one setting through one trace, at each edge of a fleet. It is used like a Run.
type FleetRun struct {
	fleet  Fleet
	edges  []*Run
	draw   *rand.Rand
	owners []uint8 // for each object the edge that has it; nil: none has

	every   int            // requests in a batch
	batch   []trace.Access // requests that wait for the batch to be full
	holders []uint64       // for each of them the edges whose latest digest has it, a bit each
	drawn   []uint8        // and the edge that it went to

	extra Result // what the edges' own counters lack, or count twice
}

// NewFleet prepares a FleetRun of s over in, whose objects must not expire. The error names every fault of s, or the first of f.
func NewFleet(f Fleet, s Setting, in Input) (*FleetRun, error) {
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("model a fleet: %w", err)
	}
	switch {
	case f.Nodes == 0:
		return nil, errors.New("model a fleet: 0 nodes: must be 1 or more")
	case s.Eviction == Clairvoyant:
		return nil, errors.New("model a fleet: eviction clairvoyant: must be one that does not know the future, which is that of one cache")
	case in.Lifetimes != nil:
		return nil, errors.New("model a fleet: lifetimes: must be none")
	}
	r := &FleetRun{fleet: f, draw: rand.New(rand.NewPCG(1, 0)), every: batchRequests}
	for range f.Nodes {
		edge, err := NewOf(s, in)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.edges = append(r.edges, edge)
	}
	if f.Balance == BalanceHash || f.Share == SharePlacement {
		r.owners = f.owners(in.Objects)
	}
	if f.Share.inBatches() {
		r.batch = make([]trace.Access, 0, batchRequests)
		r.holders, r.drawn = make([]uint64, batchRequests), make([]uint8, batchRequests)
	}
	return r, nil
}

// Requests takes the next requests of the trace.
func (f *FleetRun) Requests(requests []trace.Access) {
	if !f.fleet.Share.inBatches() {
		for _, a := range requests {
			f.request(a)
		}
		return
	}
	for len(requests) > 0 {
		n := min(len(requests), f.every-len(f.batch))
		f.batch = append(f.batch, requests[:n]...)
		requests = requests[n:]
		if len(f.batch) == f.every {
			f.play()
		}
	}
}

// request handles one request where nothing is exchanged in batches.
func (f *FleetRun) request(a trace.Access) {
	if f.fleet.Balance == BalanceHash {
		f.edges[f.owners[a.Object]].Request(a)
		return
	}
	at := f.edge()
	if f.fleet.Share == SharePlacement {
		f.place(a, at)
		return
	}
	f.edges[at].Request(a)
}

// edge draws the edge that gets the next request.
func (f *FleetRun) edge() int { return f.draw.IntN(f.fleet.Nodes) }

// place handles a request to an edge, which asks the owner for what it does not hold.
func (f *FleetRun) place(a trace.Access, at int) {
	e := f.edges[at]
	o, admit := e.answer(a)
	if o != missed {
		return
	}
	owner := int(f.owners[a.Object])
	if owner == at {
		e.miss(a, admit)
		return
	}
	sent := e.sent(a)
	f.extra.PeerRequests++
	f.extra.PeerBytes += sent
	f.edges[owner].Request(a)
	f.extra.Requests-- // the owner has counted it too
	f.extra.RequestBytes -= sent
	e.receive(a, admit)
}

// play handles the requests of a batch, and does what is due before them or after them.
func (f *FleetRun) play() {
	if f.fleet.Share == ShareDigests {
		f.publish()
		for n, a := range f.batch {
			f.ask(a, f.edge(), f.holders[n])
		}
	} else {
		for n, a := range f.batch {
			at := f.edge()
			f.drawn[n] = uint8(at) //nolint:gosec // below MostNodes
			f.edges[at].Request(a)
		}
		f.tell()
	}
	f.batch = f.batch[:0]
}

// publish makes the digests of all edges, as far as they matter to the requests of the batch.
func (f *FleetRun) publish() {
	for n, a := range f.batch {
		f.holders[n] = 0
		for at, e := range f.edges {
			if e.storage.holds(a.Object) {
				f.holders[n] |= 1 << at
			}
		}
	}
}

// ask handles a request to an edge, which asks one of the holders for what it does not hold itself: the next one in their order.
func (f *FleetRun) ask(a trace.Access, at int, holders uint64) {
	e := f.edges[at]
	o, admit := e.answer(a)
	if o != missed {
		return
	}
	if holders &^= 1 << at; holders == 0 {
		e.miss(a, admit)
		return
	}
	sibling := (at + bits.TrailingZeros64(bits.RotateLeft64(holders, -at))) % 64
	f.extra.PeerRequests++
	where := f.edges[sibling].storage.find(a.Object, a.At)
	if where == nowhere {
		e.miss(a, admit)
		return
	}
	sent := e.sent(a)
	f.extra.PeerBytes += sent
	f.extra.Hits++
	f.extra.HitBytes += sent
	if where == onDisk {
		f.extra.DiskHits++
		f.extra.DiskHitBytes += sent
	}
	e.receive(a, admit)
}

// tell gives each edge the sightings of the others, at the time of the latest.
func (f *FleetRun) tell() {
	now := f.batch[len(f.batch)-1].At
	for at, e := range f.edges {
		if e.window == nil {
			continue
		}
		for n, a := range f.batch {
			if int(f.drawn[n]) != at {
				a.At = now
				e.window.see(a)
			}
		}
	}
}

// Close ends the goroutines of the edges. Call it once, after the last call of any other method.
func (f *FleetRun) Close() {
	for _, e := range f.edges {
		e.Close()
	}
}

// receive handles the response of another edge to a request that nothing stored here answers. It is kept like one of the origin.
func (r *Run) receive(a trace.Access, admit bool) {
	if !a.Head {
		r.keep(a.Object, r.objects[a.Object].Size, admit)
	}
}
