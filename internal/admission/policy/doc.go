// Package policy answers: may the response to this request be stored, given how
// often its key was asked for?
//
// Rule.Decide is the one place where that is decided. The proxy's gate, the shadow
// policies and the model of a cache ask it, each with the sightings that it has
// counted itself. It is a pure function: equal rules and sightings have equal
// verdicts.
//
// A policy is one file, and one line in the table of policy.go. The bounds of its
// parameter stand in its file; the configuration and the programs' flags go by them.
//
// The package remembers no sightings, reads no clock and draws no random numbers.
package policy
