package main

import (
	"strings"
	"testing"
)

// The events a run consists of, in the words of go test -json.
const (
	runA      = `{"Action":"run","Package":"m/p","Test":"TestA"}`
	passA     = `{"Action":"pass","Package":"m/p","Test":"TestA"}`
	failA     = `{"Action":"fail","Package":"m/p","Test":"TestA"}`
	skipA     = `{"Action":"skip","Package":"m/p","Test":"TestA"}`
	runSub    = `{"Action":"run","Package":"m/p","Test":"TestA/x/y"}`
	passSub   = `{"Action":"pass","Package":"m/p","Test":"TestA/x/y"}`
	failSub   = `{"Action":"fail","Package":"m/p","Test":"TestA/x/y"}`
	skipSub   = `{"Action":"skip","Package":"m/p","Test":"TestA/x/y"}`
	okP       = `{"Action":"output","Package":"m/p","Output":"ok  \tm/p\t0.1s\n"}`
	passP     = `{"Action":"pass","Package":"m/p"}`
	failP     = `{"Action":"fail","Package":"m/p"}`
	noTests   = `{"Action":"skip","Package":"m/q"}`
	buildSays = `{"Action":"build-output","ImportPath":"m/p [m/p.test]","Output":"p.go:3:1: undefined: x\n"}`
	buildFail = `{"Action":"build-fail","ImportPath":"m/p [m/p.test]"}`
	buildEnds = `{"Action":"fail","Package":"m/p","FailedBuild":"m/p [m/p.test]"}`
)

func says(pkgTest, text string) string {
	return `{"Action":"output","Package":"m/p",` + pkgTest + `"Output":"` + text + `\n"}`
}

func TestClosingLineCountsWhatRan(t *testing.T) {
	f := func(name string, events []string, strict bool, wantLast string, wantCode int, wantIn ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			for _, e := range events {
				r.line(e + "\n")
			}
			if got := r.finish(strict, options{}); got != wantCode {
				t.Errorf("exit code: got %d, want %d", got, wantCode)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if got := lines[len(lines)-1]; got != wantLast {
				t.Errorf("last line: got %q, want %q", got, wantLast)
			}
			for _, want := range wantIn {
				if !strings.Contains(out.String(), want) {
					t.Errorf("output: got %q, want %q in it", out.String(), want)
				}
			}
		})
	}

	f("a test that passes", []string{runA, passA, okP, passP}, false, "1 passed, 0 failed", 0, "ok  \tm/p")
	f("a test that fails, with what it said",
		[]string{runA, says(`"Test":"TestA",`, "got 1, want 2"), failA, failP}, false, "0 passed, 1 failed", 1, "got 1, want 2", "failed: m/p.TestA\n")
	f("only the subtest counts when it passes", []string{runA, runSub, passSub, passA, okP, passP}, false, "1 passed, 0 failed", 0)
	f("only the subtest counts when it fails", []string{runA, runSub, failSub, failA, failP}, false, "0 passed, 1 failed", 1, "failed: m/p.TestA/x/y")
	f("a parent that fails by itself counts", []string{runA, runSub, passSub, failA, failP}, false, "1 passed, 1 failed", 1, "failed: m/p.TestA\n")
	f("a skip is named with its reason",
		[]string{runA, says(`"Test":"TestA",`, "    a_test.go:5: no nginx here"), skipA, okP, passP},
		false, "0 passed, 0 failed, 1 skipped", 0, "skipped: m/p.TestA: a_test.go:5: no nginx here")
	f("a skip is a failure when everything must run",
		[]string{runA, says(`"Test":"TestA",`, "no nginx here"), skipA, okP, passP}, true, "0 passed, 1 failed", 1, "no nginx here")
	f("a skip for want of traces is none",
		[]string{runA, says(`"Test":"TestA",`, "    a_test.go:5: the traces are not there"), skipA, okP, passP},
		true, "0 passed, 0 failed, 1 skipped", 0, "skipped: m/p.TestA")
	f("a skipped subtest does not hide behind its parent", []string{runA, runSub, skipSub, passA, okP, passP}, true, "0 passed, 1 failed", 1)
	f("a parent that skips after its subtests is a skip",
		[]string{runA, runSub, passSub, skipA, okP, passP}, false, "1 passed, 0 failed, 1 skipped", 0)
	f("a test that a mark leaves to another run is no skip",
		[]string{runA, says(`"Test":"TestA",`, "    a_test.go:5: left to make test-all: it starts nginx"), skipA, runSub, passSub, okP, passP},
		true, "1 passed, 0 failed", 0, "1 tests are left to make test-all")
	f("a build that fails counts once and shows the compiler's words",
		[]string{buildSays, buildFail, buildEnds}, false, "0 passed, 1 failed", 1, "undefined: x", "failed: m/p\n")
	f("a test that exits the process is named",
		[]string{runA, failP}, false, "0 passed, 1 failed", 1, "m/p.TestA (did not end)")
	f("a failure outside the tests counts",
		[]string{runA, passA, says("", "setup broke"), failP}, false, "1 passed, 1 failed", 1, "setup broke")
	f("a package without tests is no skip", []string{runA, passA, okP, passP, noTests}, true, "1 passed, 0 failed", 0)
	f("a run without a test is no success", []string{noTests}, false, "0 passed, 1 failed", 1, "no test ran")
	f("what is no event is passed on", []string{"go: downloading x", runA, passA, okP, passP}, false, "1 passed, 0 failed", 0, "go: downloading x\n")
}

func TestLoggedDiffSurvivesTheFilter(t *testing.T) {
	got := spoken([]string{"=== RUN   TestA\n", "    --- want\n", "    +++ got\n", "    --- FAIL: TestA (0.00s)\n"})
	if want := "    --- want\n    +++ got\n"; got != want {
		t.Errorf("spoken: got %q, want %q", got, want)
	}
}
