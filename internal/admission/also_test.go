package admission

import (
	"testing"
	"time"
)

// TestSightAlsoDecidesAsSightDoes: by the key that it records, whatever the policy, whichever
// of the two saw the key before, and with the gate open or not.
func TestSightAlsoDecidesAsSightDoes(t *testing.T) {
	open := false
	options := Options{
		SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000), WarmingUp: func() bool { return open },
	}
	g, other := newGate(t, options), newGate(t, options)
	for _, r := range []Rule{secondHit, more4, {Policy: Always}, {Policy: Never}} {
		for _, open = range []bool{false, true} {
			for i := range uint64(7) {
				hi, lo := hash(uint64(len(r.Policy.String()))) // one key for each policy
				want, sight := other.Sight(r, hi, lo), g.Sight
				if i%2 == 0 {
					sight = func(r Rule, hi, lo uint64) Verdict { return g.SightAlso(r, Verdict{}, hi, lo) }
				}
				if got := sight(r, hi, lo); got != want {
					t.Errorf("%v, open %v, sighting %d: got %+v, want %+v", r.Policy, open, i+1, got, want)
				}
			}
		}
	}
}
