package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// answersOf reads answers as the suite gives them.
func answersOf(t *testing.T, text string) map[string]answer {
	t.Helper()
	var out map[string]answer
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// short writes results as id:outcome, with the test at the root of a dependency.
func short(results []result) string {
	var out []string
	for _, r := range results {
		s := r.id + ":" + string(r.outcome)
		if r.needs != "" {
			s += "(" + r.needs + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestOutcomeOfAnswers(t *testing.T) {
	f := func(k kind, said string, want outcome) {
		t.Helper()
		got := score([]test{{ID: "a", Kind: k}}, answersOf(t, `{"a": `+said+`}`))[0].outcome
		if got != want {
			t.Errorf("%s, %s: got %s, want %s", k, said, got, want)
		}
		if !got.valid(k) {
			t.Errorf("%s: the outcome %s of a %s test cannot be kept", said, got, k)
		}
	}

	f(required, `true`, pass)
	f(optimal, `true`, pass)
	f(check, `true`, yes)
	f(required, `["Assertion", "x"]`, fail)
	f(optimal, `["Assertion", "x"]`, suboptimal)
	f(check, `["Assertion", "x"]`, no)
	f(required, `["Setup", "x"]`, setup)
	f(check, `["Setup", "retry"]`, retry)
	f(optimal, `["AbortError", "x"]`, harness)
	f(required, `["FetchError", "network timeout at: http://x"]`, harness)
	f(required, `["FetchError", "request failed: socket hang up"]`, fail)
}

func TestAnswersOfAnotherFormAreRefused(t *testing.T) {
	f := func(text string) {
		t.Helper()
		var a answer
		if err := json.Unmarshal([]byte(text), &a); err == nil {
			t.Errorf("%s: got %+v, want an error", text, a)
		}
	}

	f(`false`)
	f(`{"name": "Setup"}`)
	f(`"Setup"`)
}

func TestDependenciesDecideFirst(t *testing.T) {
	// gate is optimal and inner waits for it; a required test may hang on either.
	tests := func(gate ...string) []test {
		return []test{
			{ID: "outer", Kind: required, DependsOn: []string{"inner"}},
			{ID: "inner", Kind: check, DependsOn: gate},
			{ID: "gate", Kind: optimal},
		}
	}
	f := func(name string, tests []test, answers, want string) {
		t.Helper()
		if got := short(score(tests, answersOf(t, answers))); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}

	f("all hold", tests("gate"), `{"outer": true, "inner": true, "gate": true}`, "outer:pass inner:yes gate:pass")
	f("a check that says no gates, too", tests("gate"), `{"outer": true, "inner": ["Assertion", "x"], "gate": true}`,
		"outer:dependency(inner) inner:no gate:pass")
	f("the root is named, not the next one", tests("gate"), `{"outer": true, "inner": true, "gate": ["Assertion", "x"]}`,
		"outer:dependency(gate) inner:dependency(gate) gate:suboptimal")
	f("an own failure does not hide the dependency", tests("gate"), `{"outer": ["Setup", "x"], "inner": true, "gate": ["Assertion", "x"]}`,
		"outer:dependency(gate) inner:dependency(gate) gate:suboptimal")
	f("what was not played holds nothing", tests("gate"), `{"outer": true, "inner": true}`,
		"outer:dependency(gate) inner:dependency(gate) gate:untested")
	f("not played is not a dependency", tests("gate"), `{"gate": ["Assertion", "x"]}`, "outer:untested inner:untested gate:suboptimal")
	f("a test of another edition gates nothing", tests("elsewhere"), `{"outer": true, "inner": true, "gate": true}`,
		"outer:pass inner:yes gate:pass")
	f("a circle never holds", tests("outer"), `{"outer": true, "inner": true, "gate": true}`,
		"outer:dependency(outer) inner:dependency(outer) gate:pass")
}

func TestClosureTakesWhatATestDependsOn(t *testing.T) {
	c := catalogue{Edition: "npm", Tests: []test{
		{ID: "a"},
		{ID: "b", DependsOn: []string{"a"}},
		{ID: "c", DependsOn: []string{"b", "elsewhere"}},
		{ID: "d", DependsOn: []string{"d"}},
	}}
	f := func(want []string, ids ...string) {
		t.Helper()
		got, err := c.closure(ids)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: got %v, %v, want %v", ids, got, err, want)
		}
	}

	f([]string{"a"}, "a")
	f([]string{"a", "b", "c"}, "c")
	f([]string{"a", "b", "c"}, "c", "a", "c")
	f([]string{"d"}, "d")
	f(nil)
	if _, err := c.closure([]string{"e"}); err == nil || !strings.Contains(err.Error(), `"e"`) {
		t.Errorf("an unknown test: got %v, want an error that names it", err)
	}
	if got := c.ids(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("the catalogue has changed: %v", got)
	}
}
