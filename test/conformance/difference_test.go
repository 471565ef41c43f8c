package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// lines reads results from the format of the expected outcomes, all in one group.
func lines(t *testing.T, text ...string) []result {
	t.Helper()
	results, err := parseExpected(strings.NewReader("[g]\n" + strings.Join(text, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestJudge(t *testing.T) {
	f := func(name string, was, is []result, wantError string, wantText ...string) {
		t.Helper()
		var out strings.Builder
		err := judge(&out, was, is)
		switch {
		case wantError == "" && err != nil:
			t.Errorf("%s: got %v, want no error", name, err)
		case wantError != "" && (err == nil || !strings.Contains(err.Error(), wantError)):
			t.Errorf("%s: got %v, want an error with %q", name, err, wantError)
		}
		for _, want := range wantText {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got\n%s, want %q in it", name, out.String(), want)
			}
		}
	}
	before := lines(t, "required a pass", "optimal b pass", "check c yes", "required d fail")

	f("nothing changed", before, before, "", "Every outcome is the expected one.")
	f("a required test is lost", before, lines(t, "required a fail", "optimal b pass", "check c yes", "required d fail"),
		"lost tests: 1", "lost: 1", "a: fail, was pass")
	f("an optimal test is lost to a dependency", before,
		lines(t, "required a pass", "optimal b dependency c", "check c yes", "required d fail"), "lost tests: 1", "b: dependency, was pass")
	f("a check may change its mind", before, lines(t, "required a pass", "optimal b pass", "check c no", "required d fail"),
		"", "otherwise changed: 1", "c: no, was yes", "UPDATE=1")
	f("a gain is told and is no error", before, lines(t, "required a pass", "optimal b pass", "check c yes", "required d pass"),
		"", "gained: 1", "d: pass, was fail", "UPDATE=1")
	f("failing otherwise is no loss", before, lines(t, "required a pass", "optimal b pass", "check c yes", "required d setup"),
		"", "otherwise changed: 1", "d: setup, was fail")
	f("a gain does not make up for a loss", before, lines(t, "required a fail", "optimal b pass", "check c yes", "required d pass"),
		"lost tests: 1", "gained: 1", "lost: 1")
	f("a test is gone", before, before[1:], "tests gone: 1, new: 0", "gone from the suite: 1")
	f("a test is new", before[1:], before, "tests gone: 0, new: 1", "new in the suite: 1")
	f("nothing was ever expected", nil, before, "tests gone: 0, new: 4")
}

func TestPoliciesThatDifferAreAnError(t *testing.T) {
	f := func(name string, wantError bool, second ...string) {
		t.Helper()
		first := lines(t, "required a pass", "check b yes", "required c fail")
		err := agree(io.Discard, [][]result{first, lines(t, second...)})
		if (err != nil) != wantError {
			t.Errorf("%s: got %v, want an error: %v", name, err, wantError)
		}
	}

	f("equal", false, "required a pass", "check b yes", "required c fail")
	f("a check alone", true, "required a pass", "check b no", "required c fail")
	f("the second one is better", true, "required a pass", "check b yes", "required c pass")
	f("both fail, otherwise", true, "required a pass", "check b yes", "required c setup")
}

func TestDoubtsAreLossesAndDisagreements(t *testing.T) {
	expected := lines(t, "required a pass", "required b fail", "check c yes", "optimal d pass", "required e pass")
	always := lines(t, "required a pass", "required b pass", "check c no", "optimal d pass", "required e fail")
	second := lines(t, "required a fail", "required b pass", "check c no", "optimal d suboptimal", "required e fail")
	got := doubts(expected, [][]result{always, second})
	// b is gained and c changed under both: nobody doubts that.
	if want := []string{"a", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheSecondTimeCounts(t *testing.T) {
	first := lines(t, "required a fail", "required b pass", "required c fail")
	again := lines(t, "required a pass", "required b fail", "required c fail")
	var out strings.Builder
	settle(&out, "always", first, again, []string{"a", "c"})
	if got, want := short(first), "a:pass b:pass c:fail"; got != want {
		t.Errorf("got %s, want %s: b was not in doubt", got, want)
	}
	if got, want := out.String(), "played again under always: a: fail, then pass\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCountIsByGroupAndKind(t *testing.T) {
	results, err := parseExpected(strings.NewReader("[x]\nrequired a pass\nrequired b fail\ncheck c yes\n[y]\nrequired d dependency b\n[x]\noptimal e pass"))
	if err != nil {
		t.Fatal(err)
	}
	groups, all := count(results)
	var got []string
	for _, g := range append(groups, groupTally{"all", all}) {
		got = append(got, g.group)
		for _, k := range kinds() {
			got = append(got, g.tally[k].String())
		}
	}
	want := "x 1/2 1/1 1/1 y 0/1 - - all 1/3 1/1 1/1"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
