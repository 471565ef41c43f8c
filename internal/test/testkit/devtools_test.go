package testkit

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// A browser that stopped reading held a test up until the limit of go test: nothing bounded the write of a command that is
// longer than what a pipe takes.
func TestABrowserThatDoesNotReadHeldUpTheTest(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := &Browser{patience: 50 * time.Millisecond, commands: out, ended: make(chan struct{}), calls: map[int64]chan devtoolsMessage{}}
	long := map[string]string{"expression": strings.Repeat("x", 1<<20)}
	if err := b.call("", "Runtime.evaluate", long, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v, want an end in time", err)
	}
	b.patience = time.Hour // which nobody has to wait
	if err := b.call("", "Browser.close", nil, nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the next command: got %v, want none behind a part of another", err)
	}
}
