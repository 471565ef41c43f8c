//go:build unix

package lines

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func openPipe(t *testing.T, o Options) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// To open a named pipe waited for somebody who reads it: the start of the program did, and
// so did every signal once a rotation had asked to open it again.
func TestNamedPipeThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	l, path := openPipe(t, Options{})
	if _, err := l.Write([]byte("before\n")); err != nil {
		t.Error(err)
	}
	if err := l.Reopen(); err != nil {
		t.Errorf("Reopen: %v", err)
	}
	_, _ = l.Write([]byte("behind\n"))
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := bufio.NewReader(r)
	for _, want := range []string{"before\n", "behind\n"} {
		if got, err := in.ReadString('\n'); got != want {
			t.Errorf("who reads later: got %q, %v, want %q", got, err, want)
		}
	}
	if err := l.Close(); err != nil || l.Dropped() != 0 {
		t.Errorf("got %v and %d dropped, want neither", err, l.Dropped())
	}
}

// TestReopenedPipeIsReadByNobodyElse: the pipe was opened again for writing alone, since the file before it read
// the pipe. With that one closed nobody did, and what was written next was lost.
func TestReopenedPipeIsReadByNobodyElse(t *testing.T) {
	l, path := openPipe(t, Options{})
	for range 3 {
		if err := l.Reopen(); err != nil {
			t.Fatalf("Reopen: %v", err)
		}
		if !l.reads.Load() {
			t.Error("we are the only reader, and do not read")
		}
	}
	_, _ = l.Write([]byte("line\n"))
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := bufio.NewReader(r).ReadString('\n'); got != "line\n" {
		t.Errorf("who reads later: got %q and %v", got, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestFullPipeDropsAndDoesNotHoldTheEnd(t *testing.T) {
	l, _ := openPipe(t, Options{QueueBytes: 100_000, CloseWait: 10 * time.Millisecond})
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 1000 {
		_, _ = l.Write(line)
	}
	if got := l.Dropped(); got < 500 {
		t.Errorf("got %d of 1000 lines dropped, want most: a pipe holds some, and the queue twice 100", got)
	}
	if err := l.Close(); !errors.Is(err, ErrCloseTimeout) {
		t.Errorf("Close: got %v, want ErrCloseTimeout", err)
	}
}
