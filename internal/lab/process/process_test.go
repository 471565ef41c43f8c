package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// started runs a shell script, and ends it with the test.
func started(t *testing.T, c Command, script string) *Process {
	t.Helper()
	c.Name, c.Path, c.Args = "script", "sh", []string{"-c", script}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = killGroup(p.cmd.Process) })
	return p
}

// listening finds the address in a line of a script.
func listening(line string) string {
	address, _ := strings.CutPrefix(line, "listening on ")
	if address == line {
		return ""
	}
	return address
}

func TestAddressIsFoundHoweverItIsWritten(t *testing.T) {
	f := func(want string, writes ...string) {
		t.Helper()
		var log bytes.Buffer
		o := &output{to: &log, finds: listening, found: make(chan string, 1)}
		for _, w := range writes {
			if n, err := o.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%q: got %d, %v", w, n, err)
			}
		}
		got := ""
		select {
		case got = <-o.found:
		default:
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", writes, got, want)
		}
		if log.String() != strings.Join(writes, "") {
			t.Errorf("%q: the log has %q", writes, log.String())
		}
	}

	f("x:1", "listening on x:1\n")
	f("x:1", "a line\nlisten", "ing on x:", "1\nmore\n", "listening on y:2\n")
	f("", "listening on x:1")
	f("", "not listening on x:1\n")
}

func TestEdgeAddress(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		if got := EdgeAddress(line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}

	f(`{"level":"INFO","msg":"serving","addresses":["127.0.0.1:80","[::1]:80"],"admin":"127.0.0.1:81"}`, "127.0.0.1:80")
	f(`{"level":"WARN","msg":"something","addresses":["127.0.0.1:80"]}`, "")
	f(`{"msg":"serving","addresses":[]}`, "")
	f("edgeproxy: listen: address already in use", "")
}

func TestAProcessThatEndsBeforeItServesSaysWhy(t *testing.T) {
	p := started(t, Command{Finds: listening}, "printf complaint >&2; exit 3")
	if err := p.AwaitAddress(t.Context()); err == nil || !strings.Contains(err.Error(), "start script: it ended before the end of the run\ncomplaint") {
		t.Errorf("got %v at %q, want an error with the complaint", err, p.Address)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "script ended with exit status 3\ncomplaint") {
		t.Errorf("Close: got %v, want how it ended", err)
	}
}

func TestClose(t *testing.T) {
	f := func(name, script, want string) {
		t.Helper()
		p := started(t, Command{Finds: listening}, script)
		if err := p.AwaitAddress(t.Context()); err != nil || p.Address != "x" {
			t.Fatalf("%s: got %q, %v, want x", name, p.Address, err)
		}
		err := p.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}

	// read ends with the standard input, cat as well.
	f("the signal ends it", "echo listening on x; exec cat", "")
	f("it ends in order", "trap '' TERM; echo listening on x; read line; exit 0", "")
	f("it ends with an error", "trap '' TERM; echo listening on x; read line; exit 4", "exit status 4")
}

func TestAnEndByItselfIsAnError(t *testing.T) {
	p := started(t, Command{}, "exit 0")
	<-p.done
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "script ended by itself") {
		t.Errorf("got %v, want it to say so", err)
	}
}

func TestAStubbornProcessIsKilled(t *testing.T) {
	p := started(t, Command{Finds: listening}, "trap '' TERM; echo listening on x; while :; do sleep 1; done")
	if err := p.AwaitAddress(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.patience = time.Millisecond
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %v, want it to say that it killed", err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var l output
	for range 5 {
		_, _ = l.Write(bytes.Repeat([]byte("x"), tailBytes/2))
	}
	_, _ = l.Write([]byte("last words"))
	if got := l.String(); len(got) != tailBytes || !strings.HasSuffix(got, "xlast words") {
		t.Errorf("got %d bytes ending in %q; want %d ending in the last words", len(got), got[max(0, len(got)-12):], tailBytes)
	}
}

func TestParseSchedstat(t *testing.T) {
	f := func(text string, want time.Duration, wantOK bool) {
		t.Helper()
		got, err := parseSchedstat(text)
		if (err == nil) != wantOK || got != want {
			t.Errorf("%q: got %v, error %v, want %v, ok %t", text, got, err, want, wantOK)
		}
	}
	f("1158458 12 3\n", 1158458, true)
	f("x 12 3", 0, false)
	f("1 2", 0, false)
	f("", 0, false)
}

// A child that has ended is not among the children, and the time of one that runs is part of its parent's tree.
func TestChildrenAreKnown(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the system has no /proc/PID/schedstat")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	has := func() bool { return strings.Contains(fmt.Sprint(Children(os.Getpid())), fmt.Sprint(cmd.Process.Pid)) }
	if !has() {
		t.Errorf("got %v, want %d among them", Children(os.Getpid()), cmd.Process.Pid)
	}
	if tree, err := TreeTime(os.Getpid()); err != nil || tree <= 0 || Resident(cmd.Process.Pid) <= 0 {
		t.Errorf("got %v, %v and %d bytes resident", tree, err, Resident(cmd.Process.Pid))
	}
	_, _ = in.Close(), cmd.Wait()
	if has() {
		t.Error("a process that has ended is still there")
	}
}
