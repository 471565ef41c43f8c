package edge

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The reader of a pipe sees an end when it was opened for writing and closed again.
func TestCheckDoesNotEndTheReaderOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	r, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := func() bool {
		fds := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 0); err != nil {
			t.Fatal(err)
		}
		return fds[0].Revents&unix.POLLHUP != 0
	}
	if err := checkLogPath(path); err != nil || ended() {
		t.Errorf("got %v, and the reader sees an end: %v", err, ended())
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if !ended() {
		t.Error("a writer that came and went was not seen: the test sees nothing")
	}
}
