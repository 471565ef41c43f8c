package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddressIsFoundHoweverItIsWritten(t *testing.T) {
	f := func(want string, writes ...string) {
		t.Helper()
		var log bytes.Buffer
		a := &announcer{to: &log, find: originAddress, found: make(chan string, 1)}
		for _, w := range writes {
			if n, err := a.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%q: got %d, %v", w, n, err)
			}
		}
		got := ""
		select {
		case got = <-a.found:
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
		if got := edgeAddress([]byte(line)); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}

	f(`{"msg":"serving","addresses":["127.0.0.1:1","127.0.0.1:2"],"admin":"127.0.0.1:3"}`, "127.0.0.1:1")
	f(`{"msg":"serving","addresses":[]}`, "")
	f(`{"msg":"stopped","addresses":["127.0.0.1:1"]}`, "")
	f(`no JSON`, "")
}

// started starts a shell script whose address is its first line.
func started(t *testing.T, script string) (*process, error) {
	t.Helper()
	return start("script", filepath.Join(t.TempDir(), "log"), func(line []byte) string { return string(line) },
		exec.Command("sh", "-c", script))
}

func TestProcessThatEndsBeforeItServesNamesItsLog(t *testing.T) {
	p, err := started(t, "printf complaint >&2; exit 3")
	if err == nil {
		t.Fatalf("got a process at %q, want an error", p.address)
	}
	_, log, _ := strings.Cut(err.Error(), "see ")
	log, _, _ = strings.Cut(log, ":")
	if text, readErr := os.ReadFile(log); readErr != nil || string(text) != "complaint" {
		t.Errorf("%v: its log: got %q, %v, want the complaint", err, text, readErr)
	}
}

func TestClose(t *testing.T) {
	f := func(name, script, want string) {
		t.Helper()
		p, err := started(t, script)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.address != "ready" {
			t.Errorf("%s: address: got %q, want ready", name, p.address)
		}
		err = p.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}

	// read ends with the standard input, cat as well.
	f("the signal ends it", "echo ready; exec cat", "")
	f("it ends in order", "trap '' TERM; echo ready; read line; exit 0", "")
	f("it ends with an error", "trap '' TERM; echo ready; read line; exit 4", "exit status 4")
}
