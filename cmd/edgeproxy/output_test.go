package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestWhatCannotBeSaidIsAFailure: version, check and others ended with 0.
func TestWhatCannotBeSaidIsAFailure(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no device that is always full")
	}
	defer full.Close()
	file := writeFile(t, "edge.yaml", "origins: {app: {servers: [\"http://h\"]}}\n")
	line := `{"time":"2026-01-01T00:00:00Z","host":"a","target":"/a","method":"GET","status":200,"bytes":100000}` + "\n"
	log := writeFile(t, "access.log", strings.Repeat(line, 3))
	for _, arguments := range []string{
		"version", "--version", "--help", "check -c " + file, "config init", "config schema", "config print -c " + file, "completion bash",
		"size --keys 10 --false-positive-rate 0.01", "size --keys 10 --false-positive-rate 0.01 --json", "log --all --once " + log, "log --all --once --json " + log, "simulate " + log, "simulate --json " + log,
	} {
		cmd := exec.Command(program(t), strings.Fields(arguments)...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = full, &said
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%s: got %d and %q, want %d and why", arguments, code, said.String(), exitFailed)
		}
	}
	s := serveFile(t, "origins: {app: {servers: [\"http://127.0.0.1:1\"]}}\n")
	for _, arguments := range []string{"status", "status --json", "top", "top --json", "health", "reload"} {
		cmd := exec.Command(program(t), append(strings.Fields(arguments), "--admin", s.admin)...)
		cmd.Stdout = full
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed {
			t.Errorf("%s: got %d, want %d", arguments, code, exitFailed)
		}
	}
}

func TestAnUnknownShellIsBadUsage(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"completion tcsh": `unexpected argument "tcsh": completion knows bash, zsh, fish and powershell`, "completion": "completion needs one of bash",
		"completion bash x": `unknown command "x"`,
	} {
		got := runBinary(t, strings.Fields(arguments)...)
		if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %d, %q and %q", arguments, got.code, got.stdout, got.stderr)
		}
	}
	if got := runBinary(t, "completion", "--help"); got.code != exitDone || !strings.Contains(got.stdout, "powershell") {
		t.Errorf("--help: got %d and %q", got.code, got.stdout)
	}
}
