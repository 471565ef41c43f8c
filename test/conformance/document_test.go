package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// committed is what the checkout says.
func committed(t *testing.T) *facts {
	t.Helper()
	f, err := readFacts("../..")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTheDocumentIsCurrent keeps a table from telling another score than the outcomes.
func TestTheDocumentIsCurrent(t *testing.T) {
	f := committed(t)
	name := document("../..")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.rewrite(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is not what the outcomes say; write it with: go run ./test/conformance -docs (-want +got)\n%s", name, diff)
	}
}

// TestEveryRequiredTestThatFailsIsNamed is the promise of docs/conformance.md.
func TestEveryRequiredTestThatFailsIsNamed(t *testing.T) {
	f := committed(t)
	text, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range editions() {
		if ids := f.reasons.unexplained(e, f.outcomes[e]); len(ids) > 0 {
			t.Errorf("%s: want a reason in reasons.txt for %s", e, strings.Join(ids, ", "))
		}
		_, section, _ := strings.Cut(string(text), sectionBegin+"required-"+e+comment)
		section, _, _ = strings.Cut(section, sectionEnd)
		for _, r := range f.outcomes[e] {
			if failed := r.kind == required && !r.outcome.holds(); failed && !strings.Contains(section, "`"+r.id+"`") {
				t.Errorf("docs/conformance.md: %s edition: want %s (%s) named", e, r.id, r.outcome)
			}
		}
	}
}

// TestReasonsAreNeeded keeps reasons from outliving what they explain.
func TestReasonsAreNeeded(t *testing.T) {
	f := committed(t)
	exists, needed := map[string]bool{}, map[string]bool{}
	for _, e := range editions() {
		for _, r := range f.outcomes[e] {
			exists[r.id], exists[e+"/"+r.id] = true, true
			if r.kind != required || r.outcome.holds() {
				continue
			}
			for _, id := range []string{r.id, r.needs} {
				needed[id], needed[e+"/"+id] = true, true
			}
		}
	}
	for _, r := range f.reasons {
		for _, id := range r.tests {
			switch {
			case !exists[id]:
				t.Errorf("reasons.txt: there is no test %s", id)
			case !r.exempt && !needed[id]:
				t.Errorf("reasons.txt: %s: no required test fails for it any more", id)
			}
		}
	}
}

func TestReasonOfAResult(t *testing.T) {
	rs, err := parseReasons(strings.NewReader(`
# a comment
first
	a
	npm/b
exempt: second
	repository/b
	c
`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(edition string, r result, want string) {
		t.Helper()
		got := ""
		if why := rs.of(edition, r); why != nil {
			got = why.text
			if why.exempt {
				got += ", exempt"
			}
		}
		if got != want {
			t.Errorf("%s of %s: got %q, want %q", r.id, edition, got, want)
		}
	}

	f("npm", result{id: "a", outcome: fail}, "first")
	f("npm", result{id: "b", outcome: fail}, "first")
	f("repository", result{id: "b", outcome: fail}, "second, exempt")
	f("npm", result{id: "d", outcome: fail}, "")
	f("npm", result{id: "d", outcome: dependency, needs: "a"}, "first")
	f("npm", result{id: "c", outcome: dependency, needs: "a"}, "second, exempt")
	f("npm", result{id: "d", outcome: setup, needs: "a"}, "")

	got := rs.unexplained("npm", lines(t, "required a fail", "required d fail", "optimal e suboptimal", "required g pass", "required h dependency e"))
	if want := []string{"d", "h"}; !slices.Equal(got, want) {
		t.Errorf("unexplained: got %v, want %v", got, want)
	}
}

func TestReasonsOfAnotherFormAreRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := parseReasons(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, %v, want the error %q", text, got, err, want)
		}
	}

	f("\ta\n", "1: a: must have a reason above it")
	f("x\n\ta\ny\n\ta\n", "4: a: must have one reason")
}

// invented is a house of its own: three tests, one peer.
func invented(t *testing.T) *facts {
	t.Helper()
	rs, err := parseReasons(strings.NewReader("why not\n\ta\nexempt: wrong\n\tc\n"))
	if err != nil {
		t.Fatal(err)
	}
	npm := lines(t, "required a fail", "required b dependency a", "required c setup", "required d pass", "check e yes")
	return &facts{
		outcomes: map[string][]result{"npm": npm, "repository": lines(t, "required d pass", "optimal f suboptimal")},
		peers: map[string]*peerScores{
			"npm":        {Peers: []peer{{Name: "P"}}, Groups: map[string][][3]int{"g": {{2, 0, 0}}}},
			"repository": {Peers: []peer{{Name: "P"}, {Name: "Q", Published: true}}, Groups: map[string][][3]int{"g": {{1, 1, 0}, {0, 1, 0}}}},
		},
		reasons: rs,
	}
}

func TestSections(t *testing.T) {
	facts := invented(t)
	f := func(name, want string) {
		t.Helper()
		got, err := facts.section(name)
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}

	f("score", `
|  | required | optimal | check | npm: required | optimal | check |
|---|---:|---:|---:|---:|---:|---:|
| **edgeproxy** | **1** | **0** | **0** | **1** | **0** | **1** |
| P | 1 | 1 | 0 | 2 | 0 | 0 |
| Q* | 0 | 1 | 0 | - | - | - |
| of | 1 | 1 | 0 | 4 | 0 | 1 |
`)
	f("groups-npm", `
| group (of) | **edgeproxy** | P |
|---|---:|---:|
| g (4 - 1) | **1 - 1** | 2 - 0 |
`)
	f("required-npm", `
Not passed: 2.

- why not
  - `+"`a`"+`
  - waiting for `+"`a`: `b`"+`

Exempt, for the test contradicts the RFC: 1.

- wrong
  - `+"`c`"+`
`)
	f("required-repository", "")
}

func TestRewriteTouchesSectionsAlone(t *testing.T) {
	facts := invented(t)
	const text = "above\n<!-- conformance:groups-npm -->\nold\n<!-- conformance:end -->\nbetween\n" +
		"<!-- conformance:required-repository -->\n<!-- conformance:end -->\nbelow\n"
	once, err := facts.rewrite(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"above\n<!-- conf", "<!-- conformance:end -->\nbetween\n", "<!-- conformance:end -->\nbelow\n", "| g (4 - 1) |"} {
		if !strings.Contains(once, want) {
			t.Errorf("got\n%s\nwant %q in it", once, want)
		}
	}
	if strings.Contains(once, "old") {
		t.Errorf("the old section is still there:\n%s", once)
	}
	if twice, err := facts.rewrite(once); err != nil || twice != once {
		t.Errorf("written twice: got %v,\n%s\nwant\n%s", err, twice, once)
	}
}

func TestRewriteRefusesWhatItCannotWrite(t *testing.T) {
	facts := invented(t)
	f := func(text, want string) {
		t.Helper()
		if got, err := facts.rewrite(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want an error with %q", text, got, err, want)
		}
	}

	f("<!-- conformance:score -->\n", "has no end")
	f("<!-- conformance:odd -->\n<!-- conformance:end -->", `no section "odd"`)
	f("<!-- conformance:groups-odd -->\n<!-- conformance:end -->", `no section "groups-odd"`)
	f("<!-- conformance:odd-npm -->\n<!-- conformance:end -->", `no section "odd-npm"`)
}

// TestPeersHaveTheSameGroups keeps a renamed group from showing as a peer's zero.
func TestPeersHaveTheSameGroups(t *testing.T) {
	f := committed(t)
	for _, e := range editions() {
		groups, _ := count(f.outcomes[e])
		if len(groups) != len(f.peers[e].Groups) {
			t.Errorf("%s: the peers have scores for %d groups, want %d", e, len(f.peers[e].Groups), len(groups))
		}
		for _, g := range groups {
			for i, counts := range f.peers[e].Groups[g.group] {
				for k, kind := range kinds() {
					if n := counts[k]; n < 0 || n > g.tally[kind].total {
						t.Errorf("%s: %s: %s: got %d of %d %s tests", e, g.group, f.peers[e].Peers[i].Name, n, g.tally[kind].total, kind)
					}
				}
			}
			if f.peers[e].Groups[g.group] == nil {
				t.Errorf("%s: %s: want the peers' scores", e, g.group)
			}
		}
	}
}
