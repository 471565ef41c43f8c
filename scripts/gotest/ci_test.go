package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// TestATestWithNothingNewToLookAtFailedTheRun: race left it to plain, and plain left it out since nothing had changed; ci.sh
// counted it as one that had not come.
func TestATestWithNothingNewToLookAtFailedTheRun(t *testing.T) {
	testkit.Slow(t, "it starts scripts/ci.sh")
	f := func(name, race, plain, want string, code int) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tool := filepath.Join(dir, "make")
			text := "#!/bin/sh\ncase $2 in race) printf '" + race + "' ;; plain) printf '" + plain + "' ;; esac >>\"$GOTEST_TALLY\"\n"
			if err := os.WriteFile(tool, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			script, err := filepath.Abs("../ci.sh")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", script, "race", "plain")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "MAKE="+tool)
			out, err := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
				t.Errorf("got exit code %d, %v, want %d and %q in\n%s", got, err, code, want, out)
			}
		})
	}
	const others = `pass\tm\tTestB\t0\trace\n`
	f("not changed", others+`left-plain\tm\tTestA\t0\trace\n`, `left-same\tm\tTestA\t0\tplain\n`, "\n1 passed, 0 failed\n", 0)
	f("it came", others+`left-plain\tm\tTestA\t0\trace\n`, `pass\tm\tTestA\t0\tplain\n`, "\n2 passed, 0 failed\n", 0)
	f("it did not come", others+`left-plain\tm\tTestA\t0\trace\n`, ``, "left to another run, which did not come: m.TestA (plain)", 1)
	f("it failed", others, `fail\tm\tTestA\t0\tplain\n`, "\n1 passed, 1 failed\n", 1)
	f("shaky", others, `shaky\tm\tTestA\t0\tplain\n`, "\n1 passed, 0 failed, 1 shaky\n", 0)
}
