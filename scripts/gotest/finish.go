package main

import (
	"fmt"
	"strings"
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
func (r *report) finish(strict bool) int {
	if len(r.results) == 0 {
		r.results = append(r.results, result{verdict: fail, name: "no test ran"})
	}
	for i := range r.results {
		res := &r.results[i]
		switch {
		case res.verdict == skip && strict && !strings.Contains(res.why, noTraces) && !strings.Contains(res.why, noEngine):
			fmt.Fprintf(r.out, "failed: %s: skipped, but EDGEPROXY_TEST_ALL=1: %s\n", res.name, res.why)
			res.verdict = fail
		case res.verdict == skip:
			fmt.Fprintf(r.out, "skipped: %s: %s\n", res.name, res.why)
		case res.verdict == fail:
			fmt.Fprintf(r.out, "failed: %s\n", res.name)
		}
	}
	failed, skipped := r.count(fail), r.count(skip)
	fmt.Fprintf(r.out, "%d passed, %d failed", r.count(pass), failed)
	if skipped > 0 {
		fmt.Fprintf(r.out, ", %d skipped", skipped)
	}
	fmt.Fprintln(r.out)
	if failed > 0 {
		return 1
	}
	return 0
}
