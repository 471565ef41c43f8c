package main

import (
	"fmt"
	"io"
	"strings"
)

// printTable prints the shares by group and in all.
func printTable(w io.Writer, results []result) {
	row := func(name string, t tally) {
		fmt.Fprintf(w, "%-18s", name)
		for _, k := range kinds() {
			fmt.Fprintf(w, "  %9s", t[k])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-18s  %9s  %9s  %9s\n", "", required, optimal, check)
	groups, all := count(results)
	for _, g := range groups {
		row(g.group, g.tally)
	}
	row("all", all)
}

// printFailing lists what does not hold.
func printFailing(w io.Writer, results []result) {
	for _, k := range kinds() {
		fmt.Fprintf(w, "\n%s, does not hold:\n", k)
		for _, r := range results {
			if r.kind == k && !r.outcome.holds() {
				fmt.Fprintln(w, describe(r))
			}
		}
	}
}

// describe is a line about one result.
func describe(r result) string {
	needs := ""
	if r.needs != "" {
		needs = " (" + r.needs + ")"
	}
	return strings.TrimRight(fmt.Sprintf("  %-8s  %s: %s%s  %s", r.kind, r.id, r.outcome, needs, r.why), " ")
}

func (c change) String() string {
	return fmt.Sprintf("  %-8s  %s: %s, was %s  %s", c.is.kind, c.is.id, c.is.outcome, c.was.outcome, c.is.why)
}

// agree says whether every policy has the outcomes of the first.
func agree(w io.Writer, outcomes [][]result) error {
	differ := 0
	names := policies()
	for i, results := range outcomes[1:] {
		d := compare(outcomes[0], results)
		if d.none() {
			continue
		}
		differ += len(d.differing())
		fmt.Fprintf(w, "\n%s differs from %s:\n", names[i+1].name, names[0].name)
		printDifference(w, &d)
	}
	if differ > 0 {
		return fmt.Errorf("the policies differ on %d tests: admission may change when a response is stored, and nothing else", differ)
	}
	return nil
}

// judge compares with what is expected. Lost tests are an error, and so are tests that
// nobody expects or that are gone: then it is another suite.
func judge(w io.Writer, expected, outcomes []result) error {
	d := compare(expected, outcomes)
	printDifference(w, &d)
	switch {
	case len(d.lost) > 0:
		return fmt.Errorf("lost tests: %d", len(d.lost))
	case len(d.missing)+len(d.fresh) > 0:
		return fmt.Errorf("tests gone: %d, new: %d; if this is the right suite, keep that with UPDATE=1", len(d.missing), len(d.fresh))
	case len(d.gained)+len(d.moved) > 0:
		fmt.Fprintln(w, "Keep this with UPDATE=1.")
	default:
		fmt.Fprintln(w, "\nEvery outcome is the expected one.")
	}
	return nil
}

func printDifference(w io.Writer, d *difference) {
	list := func(title string, changes []change) {
		if len(changes) > 0 {
			fmt.Fprintf(w, "\n%s: %d\n", title, len(changes))
		}
		for _, c := range changes {
			fmt.Fprintln(w, strings.TrimRight(c.String(), " "))
		}
	}
	list("lost", d.lost)
	list("gained", d.gained)
	list("otherwise changed", d.moved)
	names := func(title string, results []result) {
		if len(results) > 0 {
			fmt.Fprintf(w, "\n%s: %d\n", title, len(results))
		}
		for _, r := range results {
			fmt.Fprintln(w, describe(r))
		}
	}
	names("gone from the suite", d.missing)
	names("new in the suite", d.fresh)
	if !d.none() {
		fmt.Fprintln(w)
	}
}
