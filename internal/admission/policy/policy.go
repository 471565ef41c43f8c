package policy

import (
	"fmt"
	"strings"

	"edgeproxy/internal/bloom"
	"edgeproxy/internal/http/reason"
)

// Policy is how a route admits responses to its cache.
type Policy uint8

// The policies, in the order in which they are listed to operators.
const (
	Always    Policy = iota // everything storable
	SecondHit               // what was sighted within the window before this request
	Counting                // what was sighted more than Rule.MoreThan times, this request included
	Chance                  // a share of it, drawn by lot
	Never                   // nothing

	count

	// Unset is the policy of a Rule that stands for another one, as in a route that has none of its own. It is not Known.
	Unset Policy = 255
)

// table has one line for each policy.
var table = [count]*policy{
	Always: &always, SecondHit: &secondHit, Counting: &counting, Chance: &chance, Never: &never,
}

// Rule is what one route uses. It is a plain value, to be checked once with Check.
type Rule struct {
	Policy Policy

	// MoreThan, for Counting only, is the number of sightings after which the
	// next one admits; 1 to MostMoreThan.
	MoreThan int

	// Probability, for Chance only, is the share of fills that is admitted; above 0, at
	// most 1.
	Probability float64
}

// policy is what one policy is.
type policy struct {
	name      string
	memory    Memory
	parameter *Parameter // nil: it has none

	// admits decides. It is a pure function.
	admits func(Rule, Sighting) bool

	// needs returns the number of sightings that admits, for clients to see; nil: it
	// is not told.
	needs func(Rule) int

	// why is the reason of what it holds back; None: it holds nothing back.
	why reason.Reason

	// closed: it admits nothing, whatever else is the case.
	closed bool

	// second: a request that finds the response of one before it, on its way or in the
	// stage, is the further sighting that the response waits for.
	second bool

	// numbered: it goes by the number of the sighting.
	numbered bool
}

// Memory is how a policy remembers sightings.
type Memory uint8

// The memories. Policies with the same one share its window.
const (
	NoMemory Memory = iota // it remembers none
	Seen                   // whether there was one within the window
	Counted                // how many there were within the window
)

// row returns the row of the table for p. p must be a known policy.
func (p Policy) row() *policy { return table[p] }

// Known reports whether p is one of the policies.
func (p Policy) Known() bool { return p < count }

// String returns the policy's name as in the configuration.
func (p Policy) String() string {
	switch {
	case p == Unset:
		return ""
	case !p.Known():
		return "unknown"
	}
	return p.row().name
}

// Section returns the name of the policy's section in the configuration, "" if it needs none: it has no window and no parameter.
func (p Policy) Section() string {
	if !p.Remembers() && p.Parameter() == nil {
		return ""
	}
	return strings.ReplaceAll(p.String(), "-", "_")
}

// Memory returns how p remembers sightings.
func (p Policy) Memory() Memory { return p.row().memory }

// Remembers reports whether p remembers sightings, within a window.
func (p Policy) Remembers() bool { return p.Memory() != NoMemory }

// Parameter returns the parameter of p, nil if it has none.
func (p Policy) Parameter() *Parameter { return p.row().parameter }

// HoldsBack returns the reason of what p holds back; None: it holds nothing back.
func (p Policy) HoldsBack() reason.Reason { return p.row().why }

// Chooses reports whether p admits some responses and holds others back.
func (p Policy) Chooses() bool { return p.HoldsBack() != reason.None && !p.Closed() }

// Closed reports whether p admits nothing.
func (p Policy) Closed() bool { return p.row().closed }

// Numbered reports whether Sighting.Number matters to p.
func (p Policy) Numbered() bool { return p.row().numbered }

// All returns the policies in the order in which they are listed to operators.
func All() []Policy {
	out := make([]Policy, count)
	for i := range out {
		out[i] = Policy(i)
	}
	return out
}

// Names returns the names of those policies for which keep returns true, in the
// order of All; a nil keep takes all.
func Names(keep func(Policy) bool) []string {
	var out []string
	for _, p := range All() {
		if keep == nil || keep(p) {
			out = append(out, p.String())
		}
	}
	return out
}

// Parse returns the policy called name; the error lists the names.
func Parse(name string) (Policy, error) {
	for _, p := range All() {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, &bloom.OptionError{Option: "policy", Value: fmt.Sprintf("%q", name), Want: OneOf(Names(nil))}
}

// OneOf lists names as a sentence does: "always, second-hit or never".
func OneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
