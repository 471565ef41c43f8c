package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// appendTally adds one line per result to the file called name, and one for how long each test took that no other contains;
// no name, no file.
func appendTally(name, step string, r *report) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the tally: %w", err)
	}
	var b strings.Builder
	for _, res := range r.results {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%.2f\t%s\n", res.verdict, res.pkg, res.test, res.seconds, step)
	}
	for _, res := range r.took {
		fmt.Fprintf(&b, "took\t%s\t%s\t%.2f\t%s\n", res.pkg, res.test, res.seconds, step)
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the tally: %w", err)
	}
	return nil
}

// named is a test that no other contains, by its package.
type named struct{ pkg, test string }

// top returns the test that contains name, or name itself.
func top(name string) string {
	before, _, _ := strings.Cut(name, "/")
	return before
}

// leftTo returns the tests that the runs in the tally have left to the run called only.
func leftTo(only, tally string) ([]named, error) {
	if tally == "" {
		return nil, errors.New("-only: GOTEST_TALLY does not say in which file the runs before have left tests")
	}
	text, err := os.ReadFile(tally)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var tests []named
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 5 && f[0] == left+only && !slices.Contains(tests, named{f[1], top(f[2])}) {
			tests = append(tests, named{f[1], top(f[2])})
		}
	}
	return tests, nil
}

// slicesOf returns the arguments of go test that run these tests. Where two packages have a test of one name, and only one of
// them is among the tests, the other runs too.
func slicesOf(args []string, tests []named) []string {
	var pkgs, names []string
	for _, t := range tests {
		pkgs, names = append(pkgs, t.pkg), append(names, regexp.QuoteMeta(t.test))
	}
	slices.Sort(pkgs)
	slices.Sort(names)
	pkgs, names = slices.Compact(pkgs), slices.Compact(names)
	return slices.Concat(args, []string{"-run", "^(" + strings.Join(names, "|") + ")$"}, pkgs)
}
