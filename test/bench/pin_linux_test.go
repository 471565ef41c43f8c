package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// In real time the monitor of a Go program goes before its other threads; nginx and the like have none.
func TestMonitorOf(t *testing.T) {
	monitor := monitorOf(os.Getpid())
	if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", monitor)); err != nil || monitor == os.Getpid() {
		t.Errorf("of this program: got thread %d, want one of its own beside the first: %v", monitor, err)
	}
	other := exec.Command("cat")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = other.Wait() }()
	if got := monitorOf(other.Process.Pid); got != 0 {
		t.Errorf("of cat: got thread %d, want none", got)
	}
}
