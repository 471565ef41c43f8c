package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// noTraces is what a test says that wants the traces of real requests. They are
// no part of the project and nothing installs them, so such a test may always
// be skipped.
const noTraces = "the traces are not there"

// noEngine is what a test of containers says where none can be run. Not every machine
// lets a container engine run, so such a test may always be skipped, too.
const noEngine = "there is no container engine"

// finish lists what did not pass, writes the closing line and returns the exit
// code. With strict a skipped test is a failed one, but for want of traces or of an engine.
func (r *report) finish(strict bool, o options) int {
	if len(r.results) == 0 {
		r.results = append(r.results, result{verdict: fail, test: "no test ran", final: true})
	}
	r.sayBad(strict)
	if n := r.count(pass); n < o.least {
		fmt.Fprintf(r.out, "failed: %d tests passed, must be at least %d: too many leave themselves to other runs\n", n, o.least)
		r.results = append(r.results, result{verdict: fail, test: "too few tests", final: true})
	}
	r.sayShaky()
	r.sayLeft()
	r.sayLong(o)
	failed, skipped, unsteady := r.count(fail), r.count(skip), r.count(shaky)
	if unsteady > 0 {
		fmt.Fprintf(r.out, "%d passed, %d failed, %d shaky\n", r.count(pass), failed, unsteady)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed", r.count(pass)+unsteady, failed)
	if skipped > 0 {
		fmt.Fprintf(r.out, ", %d skipped", skipped)
	}
	fmt.Fprintln(r.out)
	if failed > 0 || unsteady > mostShaky {
		return 1
	}
	return 0
}

// sayBad lists what failed and what was skipped. With strict a skipped test becomes a failed one.
func (r *report) sayBad(strict bool) {
	for i := range r.results {
		res := &r.results[i]
		switch {
		case res.verdict == skip && strict && !strings.Contains(res.why, noTraces) && !strings.Contains(res.why, noEngine):
			fmt.Fprintf(r.out, "failed: %s: skipped, but EDGEPROXY_TEST_ALL=1: %s\n", res.name(), res.why)
			res.verdict = fail
		case res.verdict == skip:
			fmt.Fprintf(r.out, "skipped: %s: %s\n", res.name(), res.why)
		case res.verdict == fail:
			fmt.Fprintf(r.out, "failed: %s\n", res.name())
		}
	}
}

// sayShaky prints what the first failure of each shaky test said, and a line for test/shaky.md.
func (r *report) sayShaky() {
	for _, res := range r.results {
		if res.verdict != shaky {
			continue
		}
		fmt.Fprintf(r.out, "shaky: %s failed, and then passed each time alone; go test -shuffle=%s; it said:\n%s", res.name(), cmp.Or(res.seed, "off"), res.said)
		fmt.Fprintf(r.out, "for test/shaky.md: | %s | %s | %s | SUSPICION |\n", time.Now().UTC().Format(time.DateOnly), res.name(), cmp.Or(res.seed, "off"))
	}
	if n := r.count(shaky); n > mostShaky {
		fmt.Fprintf(r.out, "failed: %d shaky tests, at most %d are let through\n", n, mostShaky)
	}
}

// sayLeft prints how many tests have left themselves to other runs.
func (r *report) sayLeft() {
	for mark, verdict := range marks {
		if n := r.count(verdict); n > 0 {
			fmt.Fprintf(r.out, "%d tests are %s\n", n, strings.TrimSuffix(mark, ": "))
		}
	}
}

// long is how long a test of the quick run may take on a quiet machine.
const long = 2.0 // seconds

// sayLong prints which tests of the quick run took longer than they may. It fails nothing: the machine may be busy.
func (r *report) sayLong(o options) {
	if !slices.Contains(o.goTest, "-short") {
		return
	}
	for _, res := range r.took {
		if res.seconds > long {
			fmt.Fprintf(r.out, "took %.1f s, longer than %.0f: %s; see Slow in internal/test/testkit\n", res.seconds, long, res.name())
		}
	}
}
