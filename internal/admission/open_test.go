package admission

import (
	"testing"
	"time"

	"edgeproxy/internal/http/reason"
)

func TestAnOpenGateAdmitsWhatTheRuleWouldNot(t *testing.T) {
	open := true
	asked := 0
	g := newGate(t, Options{
		SecondHit: section(time.Hour, 1000), Counting: section(time.Hour, 1000),
		WarmingUp: func() bool { asked++; return open },
	})
	f := func(r Rule, key uint64, want Verdict, wantAsked int) {
		t.Helper()
		asked = 0
		if got := g.sight(r, key); got != want {
			t.Errorf("%v, open %v: got %+v, want %+v", r.Policy, open, got, want)
		}
		if asked != wantAsked {
			t.Errorf("%v, open %v: got asked %d times, want %d", r.Policy, open, asked, wantAsked)
		}
	}
	f(secondHit, 1, Verdict{Admit: true, Open: true}, 1)
	f(secondHit, 1, Verdict{Admit: true}, 0) // recorded all the same
	f(more4, 1, Verdict{Admit: true, Open: true, Sightings: 1, Needed: 5}, 1)
	f(more4, 1, Verdict{Admit: true, Open: true, Sightings: 2, Needed: 5}, 1)
	f(Rule{Policy: Never}, 1, Verdict{Reason: reason.AdmissionDenies}, 0)
	f(Rule{Policy: Always}, 1, Verdict{Admit: true}, 0)
	open = false
	f(secondHit, 2, Verdict{Reason: reason.FirstSighting}, 1)
	f(more4, 1, Verdict{Reason: reason.TooFewSightings, Sightings: 3, Needed: 5}, 1)
	f(secondHit, 1, Verdict{Admit: true}, 0)
}

func TestOpenIsWhatWarmingUpSays(t *testing.T) {
	f := func(warmingUp func() bool, want bool) {
		t.Helper()
		if got := newGate(t, Options{WarmingUp: warmingUp}).Open(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f(nil, false)
	f(func() bool { return false }, false)
	f(func() bool { return true }, true)
}
