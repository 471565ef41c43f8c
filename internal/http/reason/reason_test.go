package reason

import "testing"

func TestEveryReasonHasOneWordOfItsOwn(t *testing.T) {
	seen := map[string]Reason{}
	for _, r := range all() {
		w := r.String()
		if w == "" || w == "unknown" {
			t.Errorf("reason %d: got the word %q, want one of its own", r, w)
		}
		for i := 0; i < len(w); i++ {
			if c := w[i]; c != '-' && (c < 'a' || c > 'z') {
				t.Errorf("reason %q: want lower-case letters and hyphens only", w)
			}
		}
		if other, dup := seen[w]; dup {
			t.Errorf("reasons %d and %d share the word %q", r, other, w)
		}
		seen[w] = r
	}
	if None.String() != "" || Count.String() != "unknown" {
		t.Errorf("None and out of range: got %q and %q", None, Count)
	}
}

func TestHeldBackNamesAdmissionOnly(t *testing.T) {
	for _, r := range all() {
		want := r == FirstSighting || r == TooFewSightings || r == NotDrawn || r == Outweighed || r == AdmissionDenies
		if got := r.HeldBack(); got != want {
			t.Errorf("%s.HeldBack(): got %v, want %v", r, got, want)
		}
	}
}

// all returns every reason but None.
func all() []Reason {
	out := make([]Reason, 0, Count)
	for r := None + 1; r < Count; r++ {
		out = append(out, r)
	}
	return out
}
