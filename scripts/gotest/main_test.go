package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRunOverRealModule holds the report against the go command itself: its
// event format is not ours.
func TestRunOverRealModule(t *testing.T) {
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
	tally := filepath.Join(dir, "tally")
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("EDGEPROXY_TEST_ALL", "")
	t.Setenv("GOTEST_TALLY", tally)

	var stdout, stderr strings.Builder
	if got := run([]string{"./..."}, &stdout, &stderr); got != 1 {
		t.Errorf("exit code: got %d, want 1", got)
	}
	if want := "\n1 passed, 2 failed, 1 skipped\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("output: got %q, want it to end in %q; stderr %q", stdout.String(), want, stderr.String())
	}
	if want := "undefined: missing"; !strings.Contains(stdout.String(), want) {
		t.Errorf("output: got %q, want %q in it", stdout.String(), want)
	}
	text, err := os.ReadFile(tally)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(got)
	want := []string{"fail\tm/a.TestBad", "fail\tm/b", "pass\tm/a.TestGood/sub", "skip\tm/a.TestSkip"}
	if !slices.Equal(got, want) {
		t.Errorf("tally: got %q, want %q", got, want)
	}
}

// Where every test has to run, one of containers may still be skipped: not every machine lets an engine run.
func TestAMachineWithoutAnEngineFailedStrictRuns(t *testing.T) {
	for why, want := range map[string]int{noEngine + ": no docker": 0, noTraces: 0, "no nginx here": 1} {
		var out strings.Builder
		r := &report{out: &out, results: []result{{name: "TestX", verdict: skip, why: why}}}
		if got := r.finish(true); got != want {
			t.Errorf("%s: got exit code %d, want %d: %s", why, got, want, &out)
		}
	}
}

func TestRunFailsWhenGoTestDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOTEST_TALLY", "")
	var stdout, stderr strings.Builder
	if got := run([]string{"./..."}, &stdout, &stderr); got != 1 {
		t.Errorf("exit code outside a module: got %d, want 1", got)
	}
	if want := "0 passed, 1 failed\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("output: got %q, want it to end in %q", stdout.String(), want)
	}
}

func TestTallyThatCannotBeWrittenIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "missing", "tally")
	if err := appendTally(name, []result{{verdict: pass, name: "m/a.TestGood"}}); err == nil {
		t.Error("error: got nil, want one: the folder is not there")
	}
}

func TestTallyIsAddedTo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tally")
	for _, res := range []result{{verdict: pass, name: "m/a.TestA"}, {verdict: fail, name: "m/a.TestB"}} {
		if err := appendTally(name, []result{res}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if want := "pass\tm/a.TestA\nfail\tm/a.TestB\n"; string(got) != want {
		t.Errorf("tally: got %q, want %q", got, want)
	}
}
