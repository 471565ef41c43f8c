package policy

import (
	"strings"
	"testing"

	"edgeproxy/internal/http/reason"
)

func TestPolicyNamesParseBack(t *testing.T) {
	f := func(p Policy, want string) {
		t.Helper()
		if got := p.String(); got != want {
			t.Errorf("Policy %d: got the name %q, want %q", p, got, want)
		}
		if got, err := Parse(want); err != nil || got != p {
			t.Errorf("Parse(%q): got %v, %v, want %v", want, got, err, p)
		}
	}
	f(Always, "always")
	f(SecondHit, "second-hit")
	f(Counting, "counting")
	f(Never, "never")
	if got := count.String(); got != "unknown" {
		t.Errorf("policy out of range: got %q, want %q", got, "unknown")
	}
}

func TestParseNamesTheValueAndTheChoices(t *testing.T) {
	for _, name := range []string{"", "Always", "second_hit", "unknown"} {
		_, err := Parse(name)
		if err == nil {
			t.Errorf("Parse(%q): got no error", name)
			continue
		}
		if want := `"` + name + `": must be always, second-hit, counting, chance or never`; !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got %q, want it to contain %q", name, err, want)
		}
	}
}

func TestJoiningAFetchIsTheFurtherSighting(t *testing.T) {
	f := func(p Policy, v, want Verdict) {
		t.Helper()
		if got := (Rule{Policy: p, MoreThan: 4}).Joined(v); got != want {
			t.Errorf("%v joined with %+v: got %+v, want %+v", p, v, got, want)
		}
	}
	yes := Verdict{Admit: true}
	first := Verdict{Reason: reason.FirstSighting}
	few := Verdict{Reason: reason.TooFewSightings, Sightings: 2, Needed: 5}
	enough := Verdict{Admit: true, Sightings: 5, Needed: 5}
	no := Verdict{Reason: reason.AdmissionDenies}
	f(SecondHit, first, yes)
	f(SecondHit, yes, yes)
	f(Counting, few, few)
	f(Counting, enough, enough)
	f(Always, yes, yes)
	f(Never, no, no)
}
