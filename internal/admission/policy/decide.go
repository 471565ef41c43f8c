package policy

import (
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/http/reason"
)

// Sighting is what is known of one request when it is decided on.
type Sighting struct {
	// Times is the number of sightings of the key within the window, this one
	// included, as far as the memory of the policy tells: Seen says 1 for the first
	// one and 2 for any other. It is 0 for policies that remember none.
	Times int

	// Number is how many sightings there were under numbered policies, of any key,
	// this one included. It is 0 for the others.
	Number int64
}

// Verdict is the decision for one request.
type Verdict struct {
	Admit  bool
	Reason reason.Reason // None where Admit is true

	// Open: the rule says no, and Admit is true because the gate is open.
	Open bool

	// Sightings and Needed, for Counting only, are the estimated number of
	// sightings within the window, this one included, and the number that
	// admits. Sightings may exceed Needed.
	Sightings, Needed int

	// Number is Sighting.Number.
	Number int64
}

// Decide says whether the response to a request with this sighting may be stored.
// The policy of r must be a known one.
func (r Rule) Decide(s Sighting) Verdict {
	p := r.Policy.row()
	v := Verdict{Admit: p.admits(r, s), Number: s.Number}
	if p.needs != nil {
		v.Sightings, v.Needed = s.Times, p.needs(r)
	}
	if !v.Admit {
		v.Reason = p.why
	}
	return v
}

// Opened returns what v is where the gate is open: everything is admitted, but by
// a policy that is closed.
func (r Rule) Opened(v Verdict) Verdict {
	if !v.Admit && !r.Policy.Closed() {
		v.Admit, v.Open, v.Reason = true, true, reason.None
	}
	return v
}

// Joined returns the verdict of a request with verdict v that joined a fetch in
// progress for the same key. For SecondHit that is the further sighting it
// waits for, whatever the filter said: simultaneous first sightings may all be
// told that they are the first. Other policies keep v.
func (r Rule) Joined(v Verdict) Verdict {
	if r.Policy.row().second {
		return Verdict{Admit: true}
	}
	return v
}

// Promotes reports whether a request whose own verdict is admit, and which finds the
// response in the stage, moves it into the tier behind the gate. Under SecondHit it
// always does: the stage remembers the first sighting, also when the window no longer
// does.
func (r Rule) Promotes(admit bool) bool { return admit || r.Policy.row().second }

// Needs returns how many sightings within the window admit a response; 0: r remembers none.
func (r Rule) Needs() int {
	switch p := r.Policy.row(); {
	case p.needs != nil:
		return p.needs(r)
	case p.memory == Seen:
		return 2
	}
	return 0
}

// Check returns what is wrong with r, each fault a *bloom.OptionError: an unknown
// policy, or a parameter out of range.
func (r Rule) Check() error {
	if !r.Policy.Known() {
		return &bloom.OptionError{Option: "policy", Value: uint8(r.Policy), Want: "a known policy"}
	}
	p := r.Policy.Parameter()
	if p == nil || p.Holds(p.Of(r)) {
		return nil
	}
	return &bloom.OptionError{Option: p.Name, Value: p.Of(r), Want: p.Want()}
}
