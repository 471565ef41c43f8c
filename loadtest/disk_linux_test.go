package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func inMemory(t *testing.T, dir string) bool {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return s.Type == tmpfsMagic
}

func shell(t *testing.T, script string) *process {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	in, err := cmd.StdinPipe() // which it waits for
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	p, err := launch("sh", cmd, syscall.SIGTERM, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitSize waits until the file at path has so many bytes.
func awaitSize(t *testing.T, path string, size int64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 10000 {
		if info, err := os.Stat(path); err == nil && info.Size() == size {
			return
		}
		<-tick.C
	}
	t.Fatalf("%s has no %d bytes", path, size)
}

// A shell stands for a proxy, and a child of its own for a worker.
func TestWhatAProcessAndItsChildrenWroteIsKnown(t *testing.T) {
	dir, err := os.MkdirTemp(".", "written-") // on a disk, if the source is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if inMemory(t, dir) {
		t.Skip("the source lies in memory: nothing is written to a block device")
	}
	const size = 1 << 20
	p := shell(t, "head -c 1048576 /dev/zero > "+filepath.Join(dir, "own")+"; (head -c 1048576 /dev/zero > "+filepath.Join(dir, "childs")+"); read x")
	for _, name := range []string{"own", "childs"} {
		awaitSize(t, filepath.Join(dir, name), size)
	}
	if _, ok := p.written(); ok {
		t.Error("known of a process that runs")
	}
	_ = p.Close() // ended by its signal
	if n, ok := p.written(); !ok || n < 2*size || n > 3*size {
		t.Errorf("got %d bytes, %v; want %d and a little", n, ok, 2*size)
	}
}
