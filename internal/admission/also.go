package admission

import "edgeproxy/internal/reason"

// SightAlso is Sight for a request that Sight has counted already, by another key: what
// it asked for turned out to have the key with the hash (hi, lo). It records that key as
// well and decides by it. The request stays one sighting: a window that is counted in
// requests does not move.
func (g *Gate) SightAlso(r Rule, hi, lo uint64) Verdict {
	var v Verdict
	switch r.Policy {
	case SecondHit:
		if v.Admit = g.sightedBefore(hi, lo); !v.Admit {
			v.Reason = reason.FirstSighting
		}
	case Counting:
		v.Sightings, v.Needed = g.sightings(hi, lo), r.MoreThan+1
		if v.Admit = v.Sightings >= v.Needed; !v.Admit {
			v.Reason = reason.TooFewSightings
		}
	default: // nothing is recorded
		return g.decide(r, hi, lo)
	}
	if !v.Admit && g.Open() {
		v.Admit, v.Open, v.Reason = true, true, reason.None
	}
	return v
}
