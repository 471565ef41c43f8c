package policy

import (
	"math"
	"testing"

	"edgeproxy/internal/http/reason"
)

// TestVerdicts has the verdict of every policy on the sightings that tell it from the others.
func TestVerdicts(t *testing.T) {
	f := func(r Rule, s Sighting, want Verdict) {
		t.Helper()
		for range 2 { // the same again: nothing is remembered
			if got := r.Decide(s); got != want {
				t.Errorf("%s at %+v: got %+v, want %+v", r.Name(), s, got, want)
			}
		}
	}
	yes := Verdict{Admit: true}
	f(Rule{Policy: Always}, Sighting{}, yes)
	f(Rule{Policy: Never}, Sighting{}, Verdict{Reason: reason.AdmissionDenies})
	f(Rule{Policy: SecondHit}, Sighting{Times: 1}, Verdict{Reason: reason.FirstSighting})
	f(Rule{Policy: SecondHit}, Sighting{Times: 2}, yes)
	more := Rule{Policy: Counting, MoreThan: 2}
	f(more, Sighting{Times: 2}, Verdict{Reason: reason.TooFewSightings, Sightings: 2, Needed: 3})
	f(more, Sighting{Times: 3}, Verdict{Admit: true, Sightings: 3, Needed: 3})
}

// TestAnOpenGateAdmitsAllButNever also keeps what the rule said of the sightings.
func TestAnOpenGateAdmitsAllButNever(t *testing.T) {
	for _, p := range All() {
		r := Rule{Policy: p}
		v := r.Decide(Sighting{Times: 1})
		got := r.Opened(v)
		if got.Admit != (p != Never) {
			t.Errorf("%v: got %+v", p, got)
		}
		if got.Open != (got.Admit && !v.Admit) {
			t.Errorf("%v: got open %v", p, got.Open)
		}
	}
}

// TestEveryPolicyIsWhole checks the table: a policy that holds back has a reason, and a default is within its bounds.
func TestEveryPolicyIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, p := range All() {
		if p.String() == "" || names[p.String()] {
			t.Errorf("policy %d: got the name %q, want one of its own", p, p)
		}
		names[p.String()] = true
		if why := p.HoldsBack(); why != reason.None && !why.HeldBack() {
			t.Errorf("%v: got the reason %v, want one of admission", p, why)
		}
		param := p.Parameter()
		if param == nil {
			continue
		}
		if !param.Holds(param.Default) {
			t.Errorf("%v: its own default is out of bounds", p)
		}
		r := param.In(Rule{Policy: p}, param.Default)
		if err := r.Check(); err != nil || param.Of(r) != param.Default {
			t.Errorf("%v: got %v and %v of the default", p, err, param.Of(r))
		}
		for _, v := range []float64{param.Least - 1, param.Most + 1} {
			if param.In(r, v).Check() == nil {
				t.Errorf("%v: %v is out of bounds, and passes", p, v)
			}
		}
	}
}

// TestChanceAdmitsItsShare also in the short run, and the more the greater the share is:
// what a small one admits a greater one does as well.
func TestChanceAdmitsItsShare(t *testing.T) {
	for _, share := range []float64{0.01, 0.2, 0.5, 1} {
		const from, n = 1000, 20_000
		admitted := 0
		for number := range int64(n) {
			s := Sighting{Number: from + number}
			v := Rule{Policy: Chance, Probability: share}.Decide(s)
			if v.Admit {
				admitted++
			} else if v.Reason != reason.NotDrawn {
				t.Fatalf("got the reason %v", v.Reason)
			}
			if v.Admit && !(Rule{Policy: Chance, Probability: min(2*share, 1)}).Decide(s).Admit {
				t.Errorf("number %d: admitted at %v and not at twice of it", s.Number, share)
			}
		}
		got := float64(admitted) / n
		if sigma := math.Sqrt(share * (1 - share) / n); math.Abs(got-share) > 4*sigma {
			t.Errorf("got a share of %v, want %v", got, share)
		}
	}
}

func TestNeedsIsTheSightingThatAdmits(t *testing.T) {
	for _, p := range All() {
		r := Rule{Policy: p, MoreThan: 3, Probability: 0.5}
		n := r.Needs()
		if n == 0 != !p.Remembers() {
			t.Errorf("%v: got %d", p, n)
		}
		if n > 0 && (!r.Decide(Sighting{Times: n}).Admit || r.Decide(Sighting{Times: n - 1}).Admit) {
			t.Errorf("%v: got %d, want the first that admits", p, n)
		}
	}
}
