package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestRunOverRealModule holds the report against the go command itself: its
// event format is not ours.
func TestRunOverRealModule(t *testing.T) {
	testkit.Slow(t, "it starts go test")
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("a/a_test.go", `package a
import "testing"
func TestGood(t *testing.T) { t.Run("sub", func(t *testing.T) {}) }
func TestBad(t *testing.T)  { t.Error("got 1, want 2") }
func TestSkip(t *testing.T) { t.Skip("no nginx here") }
`)
	write("b/b_test.go", "package b\nvar _ = missing\n")
	write("c/c_test.go", `package c
import "testing"
func TestLater(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) {
		if testing.Short() { t.Skip("`+testkit.MarkAlone+`it measures") }
	})
}
`)
	tally := filepath.Join(dir, "tally")
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("EDGEPROXY_TEST_ALL", "")
	t.Setenv("GOTEST_TALLY", tally)
	t.Setenv("GOTEST_STEP", "quick")

	var stdout, stderr strings.Builder
	if got := run([]string{"-says", "two minutes", "--", "-short", "./..."}, &stdout, &stderr); got != 1 {
		t.Errorf("exit code: got %d, want 1", got)
	}
	if want := "two minutes\n"; !strings.HasPrefix(stdout.String(), want) {
		t.Errorf("output: got %q, want it to begin with %q", stdout.String(), want)
	}
	if want := "\n1 tests are left to make measure\n2 passed, 2 failed, 1 skipped\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("output: got %q, want it to end in %q; stderr %q", stdout.String(), want, stderr.String())
	}
	if want := "undefined: missing"; !strings.Contains(stdout.String(), want) {
		t.Errorf("output: got %q, want %q in it", stdout.String(), want)
	}
	text, err := os.ReadFile(tally)
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`\t[0-9.]+\tquick\n`).ReplaceAllString(string(text), "\n")
	for _, want := range []string{"fail\tm/a\tTestBad", "fail\tm/b\t", "pass\tm/a\tTestGood/sub", "skip\tm/a\tTestSkip", "left-alone\tm/c\tTestLater/two", "took\tm/c\tTestLater"} {
		if !slices.Contains(strings.Split(got, "\n"), want) {
			t.Errorf("tally: got %q, want the line %q in it", got, want)
		}
	}

	stdout.Reset()
	if got := run([]string{"-only", "alone", "--", "-shuffle=on"}, &stdout, &stderr); got != 0 || !strings.HasSuffix(stdout.String(), "\n2 passed, 0 failed\n") {
		t.Errorf("the run that TestLater is left to: exit code %d, %q, %q, want 2 passed", got, stdout.String(), stderr.String())
	}
}

// TestAFailureIsRunAgainAlone has a test that fails the first time, one that fails always, and one with a data race, as far as
// the report can see.
func TestAFailureIsRunAgainAlone(t *testing.T) {
	testkit.Plain(t, "other processes do the work")
	testkit.Slow(t, "it starts go test")
	f := func(name, body string, wantCode int, wantLast, wantIn string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a_test.go": "package a\nimport (\n\"os\"\n\"testing\"\n)\n" + body} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			t.Setenv("GOWORK", "off")
			t.Setenv("GOFLAGS", "-mod=mod")
			t.Setenv("EDGEPROXY_TEST_ALL", "")
			t.Setenv("GOTEST_TALLY", filepath.Join(dir, "tally"))
			var stdout, stderr strings.Builder
			if got := run([]string{"-again", "3", "--", "-shuffle=7", "./..."}, &stdout, &stderr); got != wantCode {
				t.Errorf("exit code: got %d, want %d; %s", got, wantCode, &stderr)
			}
			if !strings.HasSuffix(stdout.String(), "\n"+wantLast+"\n") || !strings.Contains(stdout.String(), wantIn) {
				t.Errorf("output: got %q, want it to end in %q, with %q in it", stdout.String(), wantLast, wantIn)
			}
		})
	}
	once := `
func once(t *testing.T, name string) {
	if f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
		t.Error("the first time is bad")
	}
}
`
	f("the first time is bad", once+`func TestA(t *testing.T) { t.Run("x", func(t *testing.T) { once(t, "a") }) }; func TestB(t *testing.T) {}`,
		0, "1 passed, 0 failed, 1 shaky\n2 passed, 0 failed", "for test/shaky.md: | ")
	f("the seed is named", once+`func TestA(t *testing.T) { once(t, "a") }`, 0, "0 passed, 0 failed, 1 shaky\n1 passed, 0 failed", "| m.TestA | 7 | SUSPICION |")
	f("each time is bad", once+`func TestA(t *testing.T) { t.Error("bad") }`, 1, "0 passed, 1 failed", "again, alone, 3 times: m.TestA")
	f("three are too many", once+`func TestA(t *testing.T) { once(t, "a") }; func TestB(t *testing.T) { once(t, "b") }; func TestC(t *testing.T) { once(t, "c") }`,
		1, "0 passed, 0 failed, 3 shaky\n3 passed, 0 failed", "failed: 3 shaky tests, at most 2 are let through")
	f("a data race is no accident", once+`func TestA(t *testing.T) { if !t.Failed() { t.Log("WARNING: DATA RACE") }; once(t, "a") }`, 1, "0 passed, 1 failed", "the first time is bad")
	f("a panic hides the tests behind it", once+`func TestA(t *testing.T) { if _, err := os.Stat("a"); err != nil { os.WriteFile("a", nil, 0o600); panic("oh") } }; func TestB(t *testing.T) {}`,
		0, "1 passed, 0 failed, 1 shaky\n2 passed, 0 failed", "panic: oh")
	f("each time is a panic", `func TestA(t *testing.T) { _ = os.Args; panic("oh") }`, 1, "0 passed, 1 failed", "panic: oh")
	f("a time-out is no accident", `func TestA(t *testing.T) { _ = os.Args; t.Log("x"); println("panic: test timed out after 1s"); os.Exit(2) }`, 1, "0 passed, 1 failed", "timed out")
}

// The marks are words of internal/test/testkit, which the report has to know.
func TestTheMarksAreThoseOfTestkit(t *testing.T) {
	for mark, want := range map[string]string{testkit.MarkSlow: leftSlow, testkit.MarkPlain: leftPlain, testkit.MarkAlone: leftAlone, testkit.MarkSame: leftSame} {
		if marks[mark] != want {
			t.Errorf("%q: got %q, want %q", mark, marks[mark], want)
		}
	}
}

func TestBadFlagsOfTheRunnerAreNamed(t *testing.T) {
	for _, args := range [][]string{{"-only", "tomorrow", "--", "./..."}, {"-again", "3"}, {"-nothing"}} {
		var stdout, stderr strings.Builder
		if got := run(args, &stdout, &stderr); got != 2 || stderr.Len() == 0 {
			t.Errorf("%q: got exit code %d, %q, want 2 and why", args, got, &stderr)
		}
	}
}

func TestTheRunThatTestsAreLeftToNeedsATally(t *testing.T) {
	for _, tally := range []string{"", filepath.Join(t.TempDir(), "missing")} {
		t.Setenv("GOTEST_TALLY", tally)
		var stdout, stderr strings.Builder
		if got := run([]string{"-only", "plain", "--", "-shuffle=on"}, &stdout, &stderr); got != 1 || !strings.Contains(stderr.String(), "-only") {
			t.Errorf("tally %q: got exit code %d, %q, want 1 and why", tally, got, &stderr)
		}
	}
}

// Where every test has to run, one of containers may still be skipped: not every machine lets an engine run.
func TestAMachineWithoutAnEngineFailedStrictRuns(t *testing.T) {
	for why, want := range map[string]int{noEngine + ": no docker": 0, noTraces: 0, "no nginx here": 1} {
		var out strings.Builder
		r := &report{out: &out, results: []result{{test: "TestX", verdict: skip, why: why}}}
		if got := r.finish(true, options{}); got != want {
			t.Errorf("%s: got exit code %d, want %d: %s", why, got, want, &out)
		}
	}
}

func TestRunFailsWhenGoTestDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOTEST_TALLY", "")
	var stdout, stderr strings.Builder
	if got := run([]string{"--", "./..."}, &stdout, &stderr); got != 1 {
		t.Errorf("exit code outside a module: got %d, want 1", got)
	}
	if want := "0 passed, 1 failed\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("output: got %q, want it to end in %q", stdout.String(), want)
	}
}

func TestTallyThatCannotBeWrittenIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "missing", "tally")
	if err := appendTally(name, "quick", &report{results: []result{{verdict: pass, pkg: "m/a", test: "TestGood"}}}); err == nil {
		t.Error("error: got nil, want one: the folder is not there")
	}
}

func TestTallyIsAddedTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tally")
	for _, res := range []result{{verdict: pass, pkg: "m/a", test: "TestA", seconds: 1.5}, {verdict: fail, pkg: "m/a", test: "TestB"}} {
		if err := appendTally(name, "quick", &report{results: []result{res}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if want := "pass\tm/a\tTestA\t1.50\tquick\nfail\tm/a\tTestB\t0.00\tquick\n"; string(got) != want {
		t.Errorf("tally: got %q, want %q", got, want)
	}
}
