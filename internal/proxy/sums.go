package proxy

import "sync/atomic"

// add adds what other has counted so far. Nobody else counts in r meanwhile.
func (r *routeMetrics) add(other *routeMetrics) {
	for i := range r.requests {
		addEach(r.requests[i][:], other.requests[i][:])
		r.duration[i].add(&other.duration[i])
		r.firstByte[i].add(&other.firstByte[i])
	}
	addEach(r.bytes[:], other.bytes[:])
	addEach(r.behind[:], other.behind[:])
	addEach(r.invalidations[:], other.invalidations[:])
	for i := range r.compressed {
		to, from := &r.compressed[i], &other.compressed[i]
		addOne(&to.Responses, &from.Responses)
		addOne(&to.In, &from.In)
		addOne(&to.Out, &from.Out)
	}
	addOne(&r.collapsed, &other.collapsed)
	r.fills.add(&other.fills)
}

// add adds what other has counted.
func (c *fillCounts) add(other *fillCounts) {
	to, from := c.counts(), other.counts()
	for i := range to {
		addOne(to[i], from[i])
	}
	addEach(c.notStored, other.notStored)
}

// counts are all but those by reason.
func (c *fillCounts) counts() [12]*atomic.Int64 {
	return [...]*atomic.Int64{
		&c.storable, &c.notStorable, &c.stored, &c.refused, &c.heldBack, &c.heldBackBytes, &c.regret, &c.regretBytes,
		&c.unjudged, &c.unjudgedBytes, &c.promoted, &c.promotedBytes,
	}
}

// add adds what other has observed.
func (h *histogram) add(other *histogram) {
	addEach(h.counts[:], other.counts[:])
	addOne(&h.sum, &other.sum)
}

func addEach(to, from []atomic.Int64) {
	for i := range to {
		addOne(&to[i], &from[i])
	}
}

func addOne(to, from *atomic.Int64) { to.Add(from.Load()) }
