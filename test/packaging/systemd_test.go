package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

const (
	serviceFile = "packaging/systemd/edgeproxy.service"
	socketFile  = "packaging/systemd/edgeproxy.socket"
)

// TestTheServiceIsHardened has systemd measure it: 0 is closed, 10 is open, and 2.0 is the most.
func TestTheServiceIsHardened(t *testing.T) {
	testkit.Slow(t, "it runs systemd-analyze")
	testkit.Plain(t, "systemd-analyze does the work")
	t.Parallel()
	cmd := exec.Command(testkit.Program(t, "systemd-analyze"), "security", "--offline=true", "--no-pager", "--threshold=20", filepath.Join(root, serviceFile))
	cmd.Env = append(os.Environ(), "SYSTEMD_COLORS=0")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Overall exposure level for edgeproxy.service") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSystemdReadsTheUnits has it load them, with commands that are there.
func TestSystemdReadsTheUnits(t *testing.T) {
	testkit.Slow(t, "it runs systemd-analyze")
	testkit.Plain(t, "systemd-analyze does the work")
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "edgeproxy")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil { // it is not run
		t.Fatal(err)
	}
	for _, path := range []string{serviceFile, socketFile} {
		unit := strings.ReplaceAll(text(t, path), "/usr/bin/edgeproxy", program)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(testkit.Program(t, "systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", filepath.Join(dir, "edgeproxy.service"), filepath.Join(dir, "edgeproxy.socket"))
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "edgeproxy.") {
			t.Error(line)
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTheServiceCallsCommandsThatThereAre runs what the unit runs, as far as it ends by itself.
func TestTheServiceCallsCommandsThatThereAre(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile(`(?m)^Exec\w+=/usr/bin/edgeproxy (\w+)(.*)$`).FindAllStringSubmatch(text(t, serviceFile), -1)
	if len(commands) != 3 {
		t.Fatalf("got %d commands, want check, serve and reload", len(commands))
	}
	for _, c := range commands {
		help, err := exec.Command(testkit.Built(t), c[1], "--help").CombinedOutput()
		if err != nil || !strings.Contains(string(help), "edgeproxy "+c[1]) {
			t.Errorf("%s: %v\n%s", c[1], err, help)
		}
		if strings.Contains(c[2], "-c ") && !strings.Contains(string(help), "-c, --config") {
			t.Errorf("%s knows no -c:\n%s", c[1], help)
		}
	}
}
