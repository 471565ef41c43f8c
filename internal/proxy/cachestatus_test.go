package proxy

import (
	"testing"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/http/reason"
)

func TestStructuredName(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := structuredName(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	f("edgeproxy", "edgeproxy")
	f("edge-1.example", "edge-1.example")
	f("*edge", "*edge")
	f("1edge", `"1edge"`)
	f("edge one", `"edge one"`)
}

func TestDetail(t *testing.T) {
	f := func(why reason.Reason, v admission.Verdict, want string) {
		t.Helper()
		x := &exchange{told: told{reason: why}}
		x.verdict = v
		if got := string(x.appendDetail(nil)); got != want {
			t.Errorf("%s: got %q, want %q", why, got, want)
		}
	}
	f(reason.FirstSighting, admission.Verdict{}, "first-sighting")
	f(reason.TooFewSightings, admission.Verdict{Sightings: 2, Needed: 5}, "sighting-2-of-5")
	f(reason.OriginError, admission.Verdict{Sightings: 2, Needed: 5}, "origin-error")
}
