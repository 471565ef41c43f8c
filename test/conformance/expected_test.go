package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpectedOutcomesSurviveTheFile(t *testing.T) {
	want := []result{
		{id: "a", group: "one", kind: required, outcome: pass},
		{id: "b=2", group: "one", kind: optimal, outcome: suboptimal},
		{id: "c", group: "two", kind: check, outcome: dependency, needs: "b=2"},
		{id: "d", group: "one", kind: required, outcome: retry},
	}
	text := formatExpected("npm", "1", want)
	got, err := parseExpected(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("what was read is not what was written (-want +got):\n%s", diff)
	}
	if again := formatExpected("npm", "1", got); !bytes.Equal(again, text) {
		t.Errorf("written twice: got\n%s, want\n%s", again, text)
	}
}

func TestExpectedOutcomesThatCannotBeAreRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := parseExpected(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, %v, want the error %q", text, got, err, want)
		}
	}

	f("required a pass", "1: a: must have a [group] above it")
	f("[g]\n\nrequired a", `3: "required a": must be a kind, a test and an outcome`)
	f("[g]\nrequired a yes", "2: a: a required test with the outcome yes does not exist")
	f("[g]\ncheck a pass", "2: a: a check test with the outcome pass does not exist")
	f("[g]\nodd a pass", "2: a: a odd test with the outcome pass does not exist")
	f("[g]\noptimal a untested", "2: a: a optimal test with the outcome untested does not exist")
	f("[g]\nrequired a pass b", `2: a: unexpected "b"`)
	f("[g]\nrequired a dependency", "2: a: must have the test it needs after dependency")
	f("[g]\nrequired a pass\nrequired a fail", "3: a: must be there once")
}

// TestCommittedOutcomesAreWhole keeps a half-written file from passing for an expectation.
func TestCommittedOutcomesAreWhole(t *testing.T) {
	f := func(edition string, want string) {
		t.Helper()
		results, err := readExpected("../..", edition)
		if err != nil {
			t.Fatal(err)
		}
		_, all := count(results)
		got := ""
		for _, k := range kinds() {
			_, of, _ := strings.Cut(all[k].String(), "/")
			got += of + " "
		}
		if got != want {
			t.Errorf("%s: got %s tests (required optimal check), want %s", edition, got, want)
		}
	}

	f("repository", "160 105 100 ")
	f("npm", "165 95 90 ")
}

func TestEditionWithoutAFileExpectsNothing(t *testing.T) {
	if got, err := readExpected(t.TempDir(), "npm"); got != nil || err != nil {
		t.Errorf("got %v, %v, want nothing", got, err)
	}
}
