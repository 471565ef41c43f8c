package balance

import "testing"

// States has each state that a server can have, once, and each has a word of its own.
func TestStatesAreAll(t *testing.T) {
	seen := map[string]bool{}
	for i, s := range States {
		if int(s) != i || seen[s.String()] || s.String() == "unknown" {
			t.Errorf("state %d: got %d, %s, want it in its place, with a word of its own", i, s, s)
		}
		seen[s.String()] = true
	}
	if next := State(len(States)); next.String() != "unknown" {
		t.Errorf("state %s is not in States", next)
	}
}
