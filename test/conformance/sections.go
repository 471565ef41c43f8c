package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/internal/lab/figures"
)

// editions are the two suites that carry the same name and version.
func editions() []string { return []string{"repository", "npm"} }

// facts are what the sections of documents are written from.
type facts struct {
	outcomes map[string][]result // keys are editions
	peers    map[string]*peerScores
	reasons  reasons
}

func readFacts(root string) (*facts, error) {
	f := &facts{outcomes: map[string][]result{}}
	var err error
	if f.peers, err = readPeers(root); err != nil {
		return nil, err
	}
	if f.reasons, err = readReasons(root); err != nil {
		return nil, err
	}
	for _, e := range editions() {
		if f.outcomes[e], err = readExpected(root, e); err != nil {
			return nil, err
		}
		if f.outcomes[e] == nil || f.peers[e] == nil {
			return nil, fmt.Errorf("there are no outcomes, or no scores of peers, for the %s edition", e)
		}
	}
	return f, nil
}

// section writes the section of that name.
func (f *facts) section(name string) (string, error) {
	if name == "score" {
		return f.score(), nil
	}
	what, edition, _ := strings.Cut(name, "-")
	if slices.Contains(editions(), edition) {
		switch what {
		case "groups":
			return f.groups(edition), nil
		case "required":
			return f.required(edition), nil
		}
	}
	return "", fmt.Errorf("there is no section %q", name)
}

// score is the table of everybody's totals.
func (f *facts) score() string {
	var t figures.Table
	t.Row("", "required", "optimal", "check", "npm: required", "optimal", "check")
	us, totals := []string{"**edgeproxy**"}, []string{"of"}
	for _, e := range editions() {
		_, all := count(f.outcomes[e])
		for _, k := range kinds() {
			us = append(us, fmt.Sprintf("**%d**", all[k].holding))
			totals = append(totals, strconv.Itoa(all[k].total))
		}
	}
	t.Row(us...)
	for _, p := range f.peers["repository"].Peers {
		cells := []string{p.label()}
		for _, e := range editions() {
			cells = append(cells, totalCells(f.peers[e], p.Name)...)
		}
		t.Row(cells...)
	}
	t.Row(totals...)
	return markdown(t, len(totals))
}

// totalCells are a peer's totals, or dashes.
func totalCells(s *peerScores, name string) []string {
	i := s.index(name)
	if i < 0 {
		return []string{"-", "-", "-"}
	}
	var out []string
	for _, n := range s.total(i) {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// groups is the table of everybody's scores by group.
func (f *facts) groups(edition string) string {
	s := f.peers[edition]
	head := []string{"group (of)", "**edgeproxy**"}
	for _, p := range s.Peers {
		head = append(head, p.label())
	}
	var t figures.Table
	t.Row(head...)
	groups, _ := count(f.outcomes[edition])
	for _, g := range groups {
		var ours, of [3]int
		for i, k := range kinds() {
			ours[i], of[i] = g.tally[k].holding, g.tally[k].total
		}
		cells := []string{g.group + " (" + triple(of, of) + ")", "**" + triple(ours, of) + "**"}
		for _, counts := range s.Groups[g.group] {
			cells = append(cells, triple(counts, of))
		}
		t.Row(cells...)
	}
	return markdown(t, len(head))
}

// triple writes required, optimal and check; a dash where the group has no such tests.
func triple(n, of [3]int) string {
	var cells []string
	for i := range n {
		if of[i] == 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, strconv.Itoa(n[i]))
		}
	}
	return strings.Join(cells, " ")
}

// required lists every required test that does not pass, by reason, the exempt ones apart.
func (f *facts) required(edition string) string {
	return f.list(edition, "Not passed: %d.", false) + f.list(edition, "\nExempt, for the test contradicts the RFC: %d.", true)
}

// list lists the tests that do not pass for exempt or for other reasons, under a title that takes
// their number. It is empty where there are none.
func (f *facts) list(edition, title string, exempt bool) string {
	var b strings.Builder
	n := 0
	for i := range f.reasons {
		r := &f.reasons[i]
		failed := f.failed(edition, r)
		if r.exempt != exempt || len(failed) == 0 {
			continue
		}
		n += len(failed)
		fmt.Fprintf(&b, "- %s\n%s", r.text, listByNeed(failed))
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(title, n) + "\n\n" + b.String()
}

// failed returns the required tests that do not pass for this reason.
func (f *facts) failed(edition string, why *reason) []result {
	var out []result
	for _, r := range f.outcomes[edition] {
		if r.kind == required && !r.outcome.holds() && f.reasons.of(edition, r) == why {
			out = append(out, r)
		}
	}
	return out
}

// listByNeed names tests in a line for those that fail by themselves, and one for each
// test that others wait for.
func listByNeed(failed []result) string {
	var needs []string
	names := map[string][]string{}
	for _, r := range failed {
		if names[r.needs] == nil {
			needs = append(needs, r.needs)
		}
		names[r.needs] = append(names[r.needs], "`"+r.id+"`")
	}
	slices.Sort(needs)
	var b strings.Builder
	for _, need := range needs {
		waiting := ""
		if need != "" {
			waiting = "waiting for `" + need + "`: "
		}
		fmt.Fprintf(&b, "  - %s%s\n", waiting, strings.Join(names[need], ", "))
	}
	return b.String()
}

// markdown returns a table whose first column is aligned to the left, and the others to the right.
func markdown(t figures.Table, columns int) string {
	return t.Markdown("|---" + strings.Repeat("|---:", columns-1) + "|")
}
