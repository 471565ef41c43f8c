package policy

import "edgeproxy/internal/http/reason"

// secondHit stores what was asked for before, within the window.
var secondHit = policy{
	name:   "second-hit",
	memory: Seen,
	admits: func(_ Rule, s Sighting) bool { return s.Times > 1 },
	why:    reason.FirstSighting,
	second: true,
}
