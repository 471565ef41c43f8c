package main

import (
	"slices"
	"strings"
	"testing"
)

func TestCheckNamesEveryProblemByPlace(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "bad.yaml", `cahce:
  default_ttl: 1s
admission:
  second_hit:
    rotate_every: 30
cache:
  memory:
    max_bytes: -5
origins: {}
`)
	got := runBinary(t, "check", "-c", file)
	if got.code != exitUsage {
		t.Errorf("exit code: got %d, want %d", got.code, exitUsage)
	}
	for _, want := range []string{
		file + ":1:1: cahce: unknown key, did you mean cache?\n",
		file + ":5:19: admission.second_hit.rotate_every: 30: must be ",
		file + ":8:16: cache.memory.max_bytes: -5: must be ",
		file + ":9:1: origins: is missing: name an origin",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("no line that begins with %q in\n%s", want, got.stderr)
		}
	}
	if n := strings.Count(got.stderr, "\n"); n != 4 {
		t.Errorf("got %d lines, want one for each of 4 problems:\n%s", n, got.stderr)
	}
	if got := runBinary(t, "serve", "-c", file); got.code != exitUsage || !strings.Contains(got.stderr, file+":1:1: cahce") {
		t.Errorf("serve with the same file: got %d %q", got.code, got.stderr)
	}
}

// A warning looks like an error, and the file can be used all the same.
func TestCheckMarksWhatIsOnlyAWarning(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "open.yaml", "origins: {app: {servers: [\"http://h\"]}}\npurge: {allow: [0.0.0.0/0]}\n")
	got := runBinary(t, "check", "-c", file)
	if want := "warning: " + file + ":2:17: purge.allow[0]: 0.0.0.0/0: lets everybody purge"; !strings.HasPrefix(got.stderr, want) {
		t.Errorf("got %q, want %q first", got.stderr, want)
	}
	if want := file + ": ok\n"; got.code != exitDone || got.stdout != want {
		t.Errorf("got %d %q, want %d %q", got.code, got.stdout, exitDone, want)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	good := writeFile(t, "good.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n")
	busy := taken(t)
	f := func(want int, says string, args ...string) {
		t.Helper()
		got := runBinary(t, args...)
		if got.code != want || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, want, says)
		}
	}

	f(exitDone, "ok", "check", "-c", good)
	f(exitDone, "edgeproxy", "version")
	f(exitDone, "edgeproxy", "--version")
	f(exitDone, "serve", "--help")
	f(exitUsage, "serve needs -c FILE or --origin URL", "serve")
	f(exitUsage, "origin", "serve", "-c", good, "--origin", "http://127.0.0.1:9000")
	f(exitUsage, "no such file", "serve", "-c", good+".not")
	f(exitUsage, "", "serve", "--origin", "ftp://127.0.0.1")
	f(exitUsage, "", "serve", "--origin", "http://127.0.0.1:9", "--policy", "sometimes")
	f(exitUsage, "unexpected argument", "serve", "--origin", "http://127.0.0.1:9", "extra")
	f(exitUsage, "unknown flag", "serve", "--orgin", "http://127.0.0.1:9")
	f(exitUsage, "unknown command", "sreve")
	f(exitUsage, "check needs a FILE", "check")
	f(exitUsage, "man needs the DIR", "man")
	f(exitUsage, "no such file", "check", "-c", good+".not")
	const origins = "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n"
	tiny := writeFile(t, "tiny.yaml", origins+"admission: {policy: counting, counting: {false_positive_rate: 1e-9}}\n")
	f(exitUsage, tiny+":2:63: admission.counting.false_positive_rate: 1e-9: must be at least", "check", "-c", tiny)
	f(exitUsage, tiny+":2:63: admission.counting.false_positive_rate: 1e-9: must be at least", "serve", "-c", tiny)
	nowhere := writeFile(t, "nowhere.yaml", origins+"admission: {state: "+good+".not/sightings}\n")
	f(exitUsage, nowhere+":2:20: admission.state: "+good+".not/sightings: must be a file in a folder", "serve", "-c", nowhere, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	f(exitFailed, "address already in use", "serve", "--origin", "http://127.0.0.1:9", "--listen", busy, "--admin", "127.0.0.1:0")
	f(exitFailed, "address already in use", "serve", "--origin", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--admin", busy)
}

// The last of several files was used, and the others were ignored without a word.
func TestASecondFileWasUsedInPlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	good := writeFile(t, "good.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\n")
	f := func(args ...string) {
		t.Helper()
		got := runBinary(t, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "must be one file, which may include others: include: [FILE, FOLDER]") {
			t.Errorf("%q: got %d %q", args, got.code, got.stderr)
		}
	}
	f("serve", "-c", good, "-c", good)
	f("serve", "-c", good, "--config", good)
	f("serve", "-c"+good, "--config="+good)
	f("check", "-c", good, "-c", good)
	f("check", good, good)
	f("check", "-c", good, good)
	f("config", "print", "-c", good, "-c", good)
	f("cache", "stats", "-c", good, "-c", good)
}

// check reported files only once the text was right, so a user with mistakes of both kinds needed two runs.
func TestCheckSaidNothingOfFilesWhileASettingWasWrong(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "edge.yaml", `origins: {app: {servers: ["http://127.0.0.1:9"], tls: {ca: /nowhere/ca.pem}}}
admin: {token_file: /nowhere/token}
limits: {header_bytes: much, spool_path: /nowhere/spool}
admission: {state: /nowhere/state, polcy: always}
access_log: {path: /nowhere/log}
`)
	got := runBinary(t, "check", "-c", file)
	var places []string
	for line := range strings.Lines(got.stderr) {
		parts := strings.SplitN(strings.TrimPrefix(line, file+":"), ": ", 3)
		places = append(places, parts[0]+" "+parts[1])
	}
	want := []string{ // not the file of a section that has to go
		"1:50 origins.app.tls", "2:21 admin.token_file", "3:24 limits.header_bytes", "3:42 limits.spool_path", "4:20 admission.state", "4:36 admission.polcy", "5:20 access_log.path",
	}
	if got.code != exitUsage || !slices.Equal(places, want) {
		t.Errorf("got %d and\n%s\nwant %d and %q", got.code, got.stderr, exitUsage, want)
	}
}
