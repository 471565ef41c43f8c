package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The verdicts of a result, as they stand in the tally.
const (
	pass  = "pass"
	fail  = "fail"
	skip  = "skip"
	shaky = "shaky" // failed, and then passed each time it ran alone
	left  = "left-" // and to which run

	leftSlow  = left + "slow"
	leftPlain = left + "plain"
	leftAlone = left + "alone"
	leftSame  = left + "same" // to nobody: nothing that the test looks at has changed
)

// marks are the words by which internal/test/testkit leaves a test to another run.
var marks = map[string]string{
	"left to make test-all: ":                     leftSlow,
	"left to the run without the race detector: ": leftPlain,
	"left to make measure: ":                      leftAlone,

	"left to make test-all, since nothing that it looks at has changed: ": leftSame,
}

// event is one line of "go test -json" (see "go doc test2json").
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// result is the end of one test, or of what stands for one.
type result struct {
	verdict   string
	pkg, test string // "edgeproxy/config", "TestLoad/empty"; no test where the package failed, or no test ran
	seconds   float64
	why       string // after a skip: what the test said
	said      string // after a failure: all that the test wrote
	seed      string // after a failure: the seed of the order of the tests
	crashed   bool   // after a failure: it ended the process, so that other tests did not run
	final     bool   // after a failure: no accident, but a data race, a time-out, or what is no test
}

func (r result) name() string {
	switch {
	case r.test == "":
		return r.pkg
	case r.pkg == "":
		return r.test
	}
	return r.pkg + "." + r.test
}

// report turns events into text and counts. Not safe for concurrent use.
type report struct {
	out      io.Writer
	results  []result
	took     []result            // each test that no other contains, for how long it took
	packages int                 // how many will end, for the progress; 0 if nobody knows
	ended    int                 // packages that have ended
	open     map[string]*pkg     // packages that have not ended yet
	builds   map[string][]string // compiler output by the build's import path
}

// pkg is one package while its tests run.
type pkg struct {
	lines   []string
	seed    string // what orders its tests, "" if they have their own order
	tests   map[string]*test
	results int // this package's so far
	failed  int
}

// test is one test between its start and its end.
type test struct {
	lines       []string
	parent      bool // has subtests, so it is not a leaf
	childFailed bool
	done        bool
}

func newReport(out io.Writer) *report {
	return &report{out: out, open: map[string]*pkg{}, builds: map[string][]string{}}
}

// line takes one line of go test's output. What is no event is passed on.
func (r *report) line(s string) {
	var e event
	if json.Unmarshal([]byte(s), &e) != nil {
		fmt.Fprint(r.out, s)
		return
	}
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case e.Package == "":
	case e.Test != "":
		r.testEvent(r.pkg(e.Package), e)
	default:
		r.pkgEvent(r.pkg(e.Package), e)
	}
}

func (r *report) pkg(path string) *pkg {
	p := r.open[path]
	if p == nil {
		p = &pkg{tests: map[string]*test{}}
		r.open[path] = p
	}
	return p
}

func (r *report) testEvent(p *pkg, e event) {
	if e.Action == "run" {
		p.tests[e.Test] = &test{}
		p.eachParent(e.Test, func(t *test) { t.parent = true })
		return
	}
	t := p.tests[e.Test]
	if t == nil { // output for a test that was never started
		t = &test{}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "output":
		t.lines = append(t.lines, e.Output)
	case pass, fail, skip:
		r.testEnd(p, t, e)
	}
}

func (r *report) testEnd(p *pkg, t *test, e event) {
	res := result{verdict: e.Action, pkg: e.Package, test: e.Test, seconds: e.Elapsed}
	switch e.Action {
	case fail:
		res.said, res.seed, res.final, res.crashed = spoken(t.lines), p.seed, raced(t.lines), crashed(t.lines)
		fmt.Fprintf(r.out, "--- FAIL: %s\n%s", res.name(), res.said)
		p.eachParent(e.Test, func(t *test) { t.childFailed = true })
	case skip:
		res.why = reasonOf(t.lines)
		for mark, verdict := range marks {
			if strings.Contains(res.why, mark) {
				res.verdict = verdict
			}
		}
	}
	ownEnd := e.Action == skip || (e.Action == fail && !t.childFailed)
	if !t.parent || ownEnd {
		r.add(p, res)
	}
	if top(e.Test) == e.Test {
		r.took = append(r.took, res)
	}
	t.done, t.lines = true, nil
}

// raced says whether the race detector has reported something while the test ran.
func raced(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "WARNING: DATA RACE") || strings.Contains(line, "race detected during execution of test")
	})
}

// crashed says whether the process ended with the test. What a test logs is indented.
func crashed(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	})
}

// timedOut says whether go test has ended the process.
func timedOut(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic: test timed out") })
}

// eachParent calls f with every test that name is a subtest of. A subtest's
// own name may hold slashes, so only prefixes that are tests count.
func (p *pkg) eachParent(name string, f func(*test)) {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if t := p.tests[name[:i]]; t != nil {
			f(t)
		}
	}
}

func (r *report) pkgEvent(p *pkg, e event) {
	switch e.Action {
	case "output":
		p.lines = append(p.lines, e.Output)
		if seed, ok := strings.CutPrefix(e.Output, "-test.shuffle "); ok {
			p.seed = strings.TrimSpace(seed)
		}
	case pass:
		if i := slices.IndexFunc(p.lines, isOK); i >= 0 && p.results > 0 {
			r.progress(p.lines[i])
		}
		delete(r.open, e.Package)
	case fail:
		r.progress(fmt.Sprintf("FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed))
		r.pkgFailed(p, e)
		delete(r.open, e.Package)
	case skip: // no test files
		delete(r.open, e.Package)
	}
}

// progress prints the line of a package that has ended, with how many have.
func (r *report) progress(line string) {
	r.ended++
	if r.packages > 0 {
		fmt.Fprintf(r.out, "%3d of %d\t", r.ended, r.packages)
	}
	fmt.Fprint(r.out, line)
}

// pkgFailed prints what the package said outside its tests and sees to it that
// at least one failure is counted.
func (r *report) pkgFailed(p *pkg, e event) {
	for _, line := range r.builds[e.FailedBuild] {
		fmt.Fprint(r.out, line)
	}
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		t := p.tests[name]
		if t.done || t.parent {
			continue
		}
		fmt.Fprintf(r.out, "--- FAIL: %s.%s (did not end)\n%s", e.Package, name, spoken(t.lines))
		final := raced(t.lines) || timedOut(t.lines) || timedOut(p.lines)
		r.add(p, result{verdict: fail, pkg: e.Package, test: name, said: spoken(t.lines), seed: p.seed, crashed: true, final: final})
	}
	fmt.Fprint(r.out, spoken(p.lines))
	if p.failed == 0 || raced(p.lines) {
		r.add(p, result{verdict: fail, pkg: e.Package, seed: p.seed, final: true})
	}
}

func (r *report) add(p *pkg, res result) {
	p.results++
	if res.verdict == fail {
		p.failed++
	}
	r.results = append(r.results, res)
}

// runFailed says that go test ended with err. It counts only when no failure
// explains it yet, as with a pattern that matches no package.
func (r *report) runFailed(err error) {
	if r.count(fail) == 0 {
		r.results = append(r.results, result{verdict: fail, test: err.Error(), final: true})
	}
}

func (r *report) count(verdict string) int {
	n := 0
	for _, res := range r.results {
		if res.verdict == verdict {
			n++
		}
	}
	return n
}

// spoken joins lines without the marks go test puts between tests.
func spoken(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if !mark(strings.TrimLeft(line, " ")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mark knows each mark in full: a logged diff may begin with dashes too.
func mark(line string) bool {
	for _, m := range [...]string{
		"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ",
		"--- PASS: ", "--- FAIL: ", "--- SKIP: ",
	} {
		if strings.HasPrefix(line, m) {
			return true
		}
	}
	return false
}

func reasonOf(lines []string) string {
	return strings.Join(strings.Fields(spoken(lines)), " ")
}

func isOK(line string) bool { return strings.HasPrefix(line, "ok ") }
