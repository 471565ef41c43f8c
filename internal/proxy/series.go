package proxy

import (
	"slices"

	"edgeproxy/internal/http/reason"
)

// departed are the sums of routes that have no series any more, for the totals of the status.
type departed struct {
	tally

	notStored [reason.Count]int64
}

func (d *departed) add(r *routeMetrics) {
	d.tally.add(r)
	for i := range r.fills.notStored {
		d.notStored[i] += r.fills.notStored[i].Load()
	}
}

// inForce says that these are the routes of new requests. Series of routes that are gone for
// long go, as package series has it. What is counted of one later is in no series, nor in
// the totals.
func (m *Metrics) inForce(routes []*route) {
	names := []string{noRoute}
	for _, r := range routes {
		names = append(names, r.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.names.Change(names, func(name string) bool { return m.byRoute[name].busy.Load() > 0 })
	if len(gone) == 0 {
		return
	}
	for _, name := range gone {
		r := m.byRoute[name]
		r.gone = true
		delete(m.byRoute, name)
		m.gone.add(r)
		m.sums.add(r)
	}
	// A scrape may be reading the slice as it was.
	m.routes = slices.DeleteFunc(slices.Clone(m.routes), func(r *routeMetrics) bool { return r.gone })
}
