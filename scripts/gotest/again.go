package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what may be called shaky.
const (
	mostAgain = 5 // more failed tests than these are no accident, and are not run again
	mostShaky = 2 // more shaky tests than these fail the run
)

// again runs each test that failed o.again times, alone, and calls those shaky that pass each time. Where a test has ended
// its process, its whole package runs once more, for the tests that were behind it.
func (r *report) again(o options, stderr io.Writer) {
	failed, crashed := r.mayBeShaky()
	if len(failed) > mostAgain {
		fmt.Fprintf(r.out, "%d tests failed: none is run again\n", len(failed))
		return
	}
	for _, t := range failed {
		fmt.Fprintf(r.out, "again, alone, %d times: %s.%s\n", o.again, t.pkg, t.test)
		if r.passes(alone(o, t, o.again), o.again, stderr) == nil {
			continue
		}
		r.callShaky(t)
	}
	for _, pkg := range crashed {
		if slices.ContainsFunc(r.results, func(res result) bool { return res.pkg == pkg && res.verdict == fail }) {
			continue
		}
		r.wholeAgain(o, pkg, stderr)
	}
}

// callShaky gives the failures of a test the verdict shaky.
func (r *report) callShaky(t named) {
	for i := range r.results {
		if res := &r.results[i]; res.pkg == t.pkg && top(res.test) == t.test && res.verdict == fail {
			res.verdict = shaky
		}
	}
}

// wholeAgain runs a package once more, and takes its results in place of the first ones, but for what is shaky.
func (r *report) wholeAgain(o options, pkg string, stderr io.Writer) {
	fmt.Fprintf(r.out, "again, whole: %s\n", pkg)
	second := r.passes(alone(o, named{pkg: pkg}, 1), 1, stderr)
	if second == nil {
		r.results = append(r.results, result{verdict: fail, pkg: pkg, test: "(tests that did not run)", final: true})
		return
	}
	unsteady := map[string]bool{}
	r.results = slices.DeleteFunc(r.results, func(res result) bool {
		unsteady[res.test] = unsteady[res.test] || res.pkg == pkg && res.verdict == shaky
		return res.pkg == pkg && res.verdict != shaky
	})
	for _, res := range second.results {
		if !unsteady[res.test] {
			r.results = append(r.results, res)
		}
	}
}

// passes runs go test and returns its report if all passed, at least so many tests, and nil if not.
func (r *report) passes(args []string, least int, stderr io.Writer) *report {
	second := newReport(r.out)
	if err := goTest(args, second, stderr); err != nil || second.count(fail) > 0 || second.count(pass) < least {
		return nil
	}
	return second
}

// mayBeShaky returns the tests that contain what failed, and the packages among theirs whose process ended with one. It
// returns none if a failure says by itself that it is no accident.
func (r *report) mayBeShaky() (tests []named, crashed []string) {
	for _, res := range r.results {
		if res.verdict != fail {
			continue
		}
		if res.final {
			return nil, nil
		}
		if t := (named{res.pkg, top(res.test)}); !slices.Contains(tests, t) {
			tests = append(tests, t)
		}
		if res.crashed && !slices.Contains(crashed, res.pkg) {
			crashed = append(crashed, res.pkg)
		}
	}
	return tests, crashed
}

// alone returns the arguments of go test that run one test so many times, or its whole package. Packages of the first run
// go, its flags stay.
func alone(o options, t named, times int) []string {
	var args []string
	for i := 0; i < len(o.goTest); i++ {
		switch a := o.goTest[i]; {
		case a == "-run" && t.test == "":
			args = append(args, a, o.goTest[i+1])
			i++
		case a == "-run":
			i++ // the pattern
		case strings.HasPrefix(a, "-run=") && t.test != "":
		case strings.HasPrefix(a, "-count="):
		case strings.HasPrefix(a, "-"):
			args = append(args, a)
		}
	}
	args = append(args, "-count="+strconv.Itoa(times))
	if t.test != "" {
		args = append(args, "-failfast", "-run=^"+t.test+"$")
	}
	return append(args, t.pkg)
}
