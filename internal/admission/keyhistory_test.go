package admission

import (
	"testing"

	"edgeproxy/internal/bloom/counting"
)

// Ends are not noted in the order in which they happened.
func TestAnEarlierSightingNotedLaterTakesNothingBack(t *testing.T) {
	p := keyHistory{}
	p.add(3, 4)
	p.add(2, 3)
	if p.from != 3 || p.upto != 4 {
		t.Errorf("got generations from %d up to %d, want 3 and 4", p.from, p.upto)
	}
	p.count(4)
	p.count(3)
	p.count(4)
	p.count(1)
	if got := p.atLeast(3, counting.Max, 0); got != 3 {
		t.Errorf("got at least %d sightings, want 3", got)
	}
	p.count(8) // the place that 4 had
	p.count(4)
	if got := p.atLeast(4, counting.Max, 0); got != 1 {
		t.Errorf("got at least %d sightings, want 1: that in 8", got)
	}
}

func TestCountsDoNotWrapAround(t *testing.T) {
	p := keyHistory{}
	for range 257 {
		p.count(1)
	}
	if got := p.atLeast(1, counting.Max, 0); got != counting.Max {
		t.Errorf("after 257 sightings: got at least %d, want %d", got, counting.Max)
	}
}

func TestAskingDoesNotCount(t *testing.T) {
	p := keyHistory{}
	p.count(1)
	for range 3 {
		if got := p.atLeast(1, counting.Max, 1); got != 2 {
			t.Errorf("got at least %d with this one, want 2", got)
		}
	}
}
