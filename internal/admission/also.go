package admission

import "edgeproxy/internal/reason"

// SightAlso is Sight for a request that Sight has counted already, by another key: what
// it asked for turned out to have the key with the hash (hi, lo). It records that key as
// well and decides by it. The request stays one sighting: a window that is counted in
// requests does not move.
func (g *Gate) SightAlso(r Rule, hi, lo uint64) Verdict {
	v := g.decide(r, hi, lo)
	if !v.Admit && r.Policy != Never && g.Open() {
		v.Admit, v.Open, v.Reason = true, true, reason.None
	}
	return v
}
