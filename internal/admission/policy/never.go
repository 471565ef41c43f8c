package policy

import "edgeproxy/internal/http/reason"

// never stores nothing.
var never = policy{
	name:   "never",
	admits: func(Rule, Sighting) bool { return false },
	why:    reason.AdmissionDenies,
	closed: true,
}
