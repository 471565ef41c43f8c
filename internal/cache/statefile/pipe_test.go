//go:build unix

package statefile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe waits for its writer, for ever if there is none.
func TestAPipeIsRefusedWithoutWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrIrregular) {
		t.Errorf("got %v, want ErrIrregular", err)
	}
}
