package policy

import "edgeproxy/internal/reason"

// never stores nothing.
var never = policy{
	name:   "never",
	admits: func(Rule, Sighting) bool { return false },
	why:    reason.AdmissionDenies,
	closed: true,
}
