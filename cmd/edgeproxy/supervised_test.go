package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// notices opens a socket as systemd does, and returns what comes there, a message at a time.
func notices(t *testing.T) (path string, next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // t.TempDir may be too long for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return path, func() string {
		t.Helper()
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

// TestSystemdHearsOfTheProgram starts it as systemd does, with a watchdog that it asks for three
// times in what is more than all of the test takes, so that its first message is the only one.
func TestSystemdHearsOfTheProgram(t *testing.T) {
	t.Parallel()
	path, next := notices(t)
	file := writeFile(t, "edge.yaml", minimal)
	cmd := exec.Command(program(t), "serve", "-c", file)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=3600000000")
	s := serveCmd(t, cmd)
	want := func(want string) {
		t.Helper()
		if got := next(); !strings.HasPrefix(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	want("READY=1\nSTATUS=serving")
	want("WATCHDOG=1")
	s.signal(syscall.SIGHUP)
	want("RELOADING=1\nMONOTONIC_USEC=")
	want("READY=1\nSTATUS=serving")
	if err := os.WriteFile(file+".new", []byte("origins: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // the watch sees it
		t.Fatal(err)
	}
	want("RELOADING=1\nMONOTONIC_USEC=")
	want("READY=1\nSTATUS=serving with the previous configuration: the file was refused")
	s.signal(syscall.SIGTERM)
	want("STOPPING=1")
	s.wantExit(exitDone)
}

// minimal is a file that listens anywhere.
const minimal = `
listen: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
origins: {app: {servers: ["http://127.0.0.1:9"]}}
`

func TestHealthSaysWhetherTheProgramIsReady(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, "-c", writeFile(t, "edge.yaml", minimal+"shutdown: {drain_delay: 1h}\n"))
	ask := func(code int, says string, flags ...string) {
		t.Helper()
		got := runBinary(t, append([]string{"health", "--timeout", patience.String(), "--admin", s.admin}, flags...)...)
		if got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%v: got %d %q %q, want %d and %q", flags, got.code, got.stdout, got.stderr, code, says)
		}
	}
	ask(exitDone, "ready\n")
	ask(exitDone, "ok\n", "--live")
	s.signal(syscall.SIGTERM)
	eventually(t, "the program drains", func() bool {
		return runBinary(t, "health", "--admin", s.admin).code == exitFailed
	})
	ask(exitFailed, "health: draining")
	ask(exitDone, "ok\n", "--live")
	s.signal(syscall.SIGTERM)
	s.wantExit(exitFailed)
	ask(exitFailed, "health: "+s.admin)
	ask(exitUsage, "must be HOST:PORT", "--admin", "edge")
	ask(exitUsage, "must be more than 0s", "--timeout", "0s")
}

func TestHealthAsksASocketInTheFileSystem(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "health")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	admin := "unix:" + filepath.Join(dir, "a")
	path, next := notices(t)
	cmd := exec.Command(program(t), "serve", "-c", writeFile(t, "edge.yaml", strings.ReplaceAll(minimal, "admin: {address: \"127.0.0.1:0\"}", fmt.Sprintf("admin: {address: %q}", admin))))
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=3600000000")
	serveCmd(t, cmd)
	if got := runBinary(t, "health", "--admin", admin); got.code != exitDone || got.stdout != "ready\n" {
		t.Errorf("got %d %q %q", got.code, got.stdout, got.stderr)
	}
	if ready, alive := next(), next(); !strings.HasPrefix(ready, "READY=1") || alive != "WATCHDOG=1" {
		t.Errorf("got %q and %q: the watchdog asks the socket too", ready, alive)
	}
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := runBinary(t, "man", dir); got.code != exitDone {
		t.Fatal(got)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 15 {
		t.Fatalf("got %d pages, want one for each command: %v", len(pages), err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".1")
		help := runBinary(t, append(strings.Split(name, "-")[1:], "--help")...)
		if want := ".SH NAME\n" + roff(name) + ` \- `; !strings.Contains(string(text), want) || help.code != exitDone {
			t.Errorf("%s: no %q, or no such command: %d", name, want, help.code)
		}
		for line := range strings.Lines(string(text)) {
			request, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch {
			case strings.HasPrefix(line, "'"):
				t.Errorf("%s: %q is a request of roff", name, line)
			case strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .B .nf .fi ", " "+request+" "):
				t.Errorf("%s: %q is no request that is meant", name, line)
			}
		}
	}
}

func TestTextOfAManualPageIsNoRequest(t *testing.T) {
	for text, want := range map[string]string{".SH x": `\&.SH x`, "'x": `\&'x`, `a\b`: `a\eb`, "--x": `\-\-x`, "a…": `a\[u2026]`} {
		if got := roff(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
