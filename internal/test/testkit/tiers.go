package testkit

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// measuring says that this is the run that measures: make measure.
var measuring = os.Getenv("EDGEPROXY_TEST_MEASURE") != ""

// The marks below say which run a test belongs to. They stand in the test, as its first statement, or in the helper that
// starts a program. The runner (scripts/gotest) reads them from the reason of the skip: a test that a mark leaves out is
// no skipped test, and the run that it is left to picks it up by its name.
const (
	MarkSlow  = "left to make test-all: "
	MarkPlain = "left to the run without the race detector: "
	MarkAlone = "left to make measure: "
	MarkSame  = "left to make test-all, since nothing that it looks at has changed: "
)

// Slow leaves the test out of the quick run, which is make test: it takes longer than two seconds, starts a program, loads
// a server, or needs what only some machines have.
func Slow(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip(MarkSlow + why)
	}
}

// Plain leaves the test out of the run with the race detector, and so to the run without it: the test counts or measures
// what the detector changes, such as allocations, or has all its work done by other processes, which the detector does not see.
// A test that takes long and has one goroutine belongs here, too.
func Plain(tb testing.TB, why string) {
	tb.Helper()
	if Detector {
		tb.Skip(MarkPlain + why)
	}
}

// Alone leaves the test to make measure, where nothing runs beside it: it compares times, CPU or memory with a control
// that it measures itself.
func Alone(tb testing.TB, why string) {
	tb.Helper()
	if !measuring {
		tb.Skip(MarkAlone + why)
	}
}

// Changed leaves the test out of make ci if nothing has changed that it looks at, since the commit that EDGEPROXY_TEST_SINCE
// names: these files and folders of the repository, as patterns of git. It is for a test that takes minutes to build a
// foreign program. make test-all runs it in any case.
func Changed(tb testing.TB, paths ...string) {
	tb.Helper()
	since := os.Getenv("EDGEPROXY_TEST_SINCE")
	if since == "" {
		return
	}
	root, err := repository()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("git", append([]string{"diff", "--quiet", since, "--"}, paths...)...)
	cmd.Dir = root
	var differs *exec.ExitError
	switch out, err := cmd.CombinedOutput(); {
	case err == nil:
		tb.Skip(MarkSame + strings.Join(paths, " "))
	case !errors.As(err, &differs) || differs.ExitCode() != 1:
		tb.Fatalf("git diff %s: %v\n%s", since, err, out)
	}
}

// Times returns how often a property is tried: all times, or only some of them in the quick run.
func Times(all, some int) int {
	if testing.Short() {
		return some
	}
	return all
}
