package command

import (
	"errors"
	"flag"
	"strings"
	"testing"
)

func TestRunGivesOutTheExitCode(t *testing.T) {
	f := func(want int, says string, result error, args ...string) {
		t.Helper()
		var stderr strings.Builder
		got := Run("bench", args, &stderr, func(f *flag.FlagSet) func() error {
			f.Int("rounds", 1, "`number` of rounds")
			return func() error { return result }
		})
		if got != want || !strings.Contains(stderr.String(), says) || (says == "") != (stderr.Len() == 0) {
			t.Errorf("%q: got %d and %q, want %d and %q", args, got, &stderr, want, says)
		}
	}
	f(Done, "", nil, "--rounds", "2")
	f(Done, "number of rounds", nil, "--help")
	f(Usage, "not defined: -speed", nil, "--speed")
	f(Usage, `bench: unexpected argument "fast"`, nil, "fast")
	f(Usage, "bench: --rounds 0: must be at least 1", Usagef("--rounds %d: must be at least 1", 0), "--rounds", "0")
	f(Failed, "bench: too dear", errors.New("too dear"))
}
