package main

import (
	"bytes"
	"strings"
	"testing"
)

// mistyped runs a command in the process of the test that ends with bad usage.
func mistyped(t *testing.T, wantError string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	if got, _, _ := strings.Cut(stderr.String(), "\n"); code != exitUsage || got != "edgeproxy: "+wantError || stdout.Len() > 0 {
		t.Errorf("%q: got %d, %q and %q, want %d and %q", args, code, stdout.String(), got, exitUsage, wantError)
	}
}

// help with a misspelt name printed the help of the program, and ended with 0.
func TestHelpOfNoCommandWasTakenForSuccess(t *testing.T) {
	t.Parallel()
	mistyped(t, `unknown command "nope" for "edgeproxy"`, "help", "nope")
	mistyped(t, `unknown command "sreve" for "edgeproxy", did you mean serve?`, "help", "sreve")
	mistyped(t, `unknown command "stat" for "edgeproxy cache", did you mean stats?`, "help", "cache", "stat")
	mistyped(t, `unexpected argument "stat": edgeproxy serve has no commands below it`, "help", "serve", "stat")
}

func TestAnUnknownCommandIsAnsweredWithTheOneMeant(t *testing.T) {
	t.Parallel()
	mistyped(t, `unknown command "nope" for "edgeproxy"`, "nope")
	mistyped(t, `unknown command "sreve" for "edgeproxy", did you mean serve?`, "sreve", "--origin", "http://127.0.0.1:9")
	mistyped(t, `unknown command "simul" for "edgeproxy", did you mean simulate?`, "simul")
	mistyped(t, `unknown command "s" for "edgeproxy"`, "s")
}

// cache stat was told to put -c before a file.
func TestAMisspeltCommandBelowAnotherWasTakenForAFile(t *testing.T) {
	t.Parallel()
	mistyped(t, `unknown command "stat" for "edgeproxy cache", did you mean stats?`, "cache", "stat")
	mistyped(t, `unknown command "shema" for "edgeproxy config", did you mean schema?`, "config", "shema")
	mistyped(t, `unknown command "nope" for "edgeproxy cache": must be one of drop, ls, stats, verify`, "cache", "nope")
}

func TestAnUnknownFlagIsAnsweredWithTheOneMeant(t *testing.T) {
	t.Parallel()
	mistyped(t, "unknown flag: --polcy, did you mean --policy?", "serve", "--polcy", "always")
	mistyped(t, "unknown flag: --jsn, did you mean --json?", "status", "--jsn")
	mistyped(t, "unknown flag: --token, did you mean --token-file?", "cache", "stats", "--token", "x") // the flag is that of cache
	mistyped(t, "unknown flag: --frobnicate", "status", "--frobnicate")
	mistyped(t, "unknown flag: --fpr: it is called --false-positive-rate now", "size", "--keys", "1M", "--fpr", "1%")
	mistyped(t, "unknown flag: --fpr: it is called --false-positive-rate now", "simulate", "--fpr=1%", "access.log")
	mistyped(t, "unknown flag: --fpr", "status", "--fpr")
	mistyped(t, "unknown shorthand flag: 'a' in -admin, did you mean --admin?", "cache", "-admin", "x", "stats")
	mistyped(t, "unknown shorthand flag: 'j' in -json=1, did you mean --json?", "status", "-json=1")
	mistyped(t, "unknown shorthand flag: 'x' in -x", "status", "-x")
}
