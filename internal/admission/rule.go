package admission

import (
	"fmt"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/bloom/counting"
	"edgeproxy/internal/reason"
)

// Policy is how a route admits responses to its cache.
type Policy uint8

// The policies.
const (
	Always    Policy = iota // everything storable
	SecondHit               // what was sighted within the window before this request
	Counting                // what was sighted more than Rule.MoreThan times, this request included
	Never                   // nothing

	policies
)

var policyNames = [policies]string{
	Always: "always", SecondHit: "second-hit", Counting: "counting", Never: "never",
}

// String returns the policy's name as in the configuration.
func (p Policy) String() string {
	if p >= policies {
		return "unknown"
	}
	return policyNames[p]
}

// ParsePolicy returns the policy called name; the error lists the names.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, &bloom.OptionError{Option: "policy", Value: fmt.Sprintf("%q", name), Want: "always, second-hit, counting or never"}
}

// The bounds of Rule.MoreThan. Beyond the upper one a single generation could
// not count far enough, and a rule might never admit.
const (
	minMoreThan = 1
	maxMoreThan = counting.Max - 1
)

// Rule is what one route uses. It is a plain value, to be checked once with
// Gate.Supports.
type Rule struct {
	Policy Policy

	// MoreThan, for Counting only, is the number of sightings after which the
	// next one admits; 1 to 14.
	MoreThan int
}

// Verdict is the decision for one request.
type Verdict struct {
	Admit  bool
	Reason reason.Reason // None where Admit is true

	// Open: the rule says no, and Admit is true because the gate is open
	// (Options.OpenBelow).
	Open bool

	// Sightings and Needed, for Counting only, are the estimated number of
	// sightings within the window, this one included, and the number that
	// admits. Sightings may exceed Needed.
	Sightings, Needed int
}

// Joined returns the verdict of a request with verdict v that joined a fetch in
// progress for the same key. For SecondHit that is the further sighting it
// waits for, whatever the filter said: simultaneous first sightings may all be
// told that they are the first. Other policies keep v.
func (r Rule) Joined(v Verdict) Verdict {
	if r.Policy == SecondHit {
		return Verdict{Admit: true}
	}
	return v
}
