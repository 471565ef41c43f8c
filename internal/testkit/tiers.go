package testkit

import (
	"os"
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

// Times returns how often a property is tried: all times, or only some of them in the quick run.
func Times(all, some int) int {
	if testing.Short() {
		return some
	}
	return all
}
