package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestConfigInitPrintsAFileThatCheckAccepts(t *testing.T) {
	t.Parallel()
	got := runBinary(t, "config", "init")
	if got.code != exitDone || !strings.HasPrefix(got.stdout, "# yaml-language-server: $schema=") {
		t.Fatalf("got %d %q %q", got.code, got.stdout, got.stderr)
	}
	file := writeFile(t, "edge.yaml", got.stdout)
	if got := runBinary(t, "check", "-c", file); got.code != exitDone || got.stderr != "" {
		t.Errorf("check: got %d %q, want no word", got.code, got.stderr)
	}
}

func TestConfigSchemaPrintsJSON(t *testing.T) {
	t.Parallel()
	got := runBinary(t, "config", "schema")
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &schema); err != nil || got.code != exitDone || schema.Properties["limits"] == nil {
		t.Errorf("got %d %v %q", got.code, err, got.stderr)
	}
}

func TestConfigPrintIsWhatIsInForce(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nadmin: {token: a-token-of-sixteen-bytes}\nlimits: {ranges: 7}\n")
	got := runBinary(t, "config", "print", "-c", file, "--policy", "counting", "--listen", "127.0.0.1:0")
	for _, want := range []string{"\n  ranges: 7\n", "\n  policy: counting\n", "\n    more_than: 4\n", "\n  - address: \"127.0.0.1:0\"\n", "\n  token: \"***\"\n", "\n  variants: 32\n"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	if got.code != exitDone || strings.Contains(got.stdout, "a-token") {
		t.Errorf("got %d, and the token: %v", got.code, strings.Contains(got.stdout, "a-token"))
	}
	again := writeFile(t, "again.yaml", got.stdout)
	if checked := runBinary(t, "check", "-c", again); checked.code != exitDone {
		t.Errorf("check: got %d %s", checked.code, checked.stderr)
	}
	if twice := runBinary(t, "config", "print", "-c", again); twice.stdout != got.stdout {
		t.Errorf("printed again: got\n%s\nwant\n%s", twice.stdout, got.stdout)
	}
}

func TestConfigUsage(t *testing.T) {
	t.Parallel()
	f := func(says string, args ...string) {
		t.Helper()
		if got := runBinary(t, args...); got.code != exitUsage || !strings.Contains(got.stderr, says) {
			t.Errorf("%q: got %d %q, want %d and %q", args, got.code, got.stderr, exitUsage, says)
		}
	}
	f("config needs one of init, schema and print", "config")
	f(`unknown command "dump" for "edgeproxy config": must be one of init, print, schema`, "config", "dump")
	f("config print needs -c FILE or --origin URL", "config", "print")
	bad := writeFile(t, "bad.yaml", "limits: {ranges: 0}\norigins: {app: {servers: [\"http://h\"]}}\n")
	f(bad+":1:18: limits.ranges: 0: must be 1 to 1000", "config", "print", "-c", bad)
}
