package process

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const tmpfsMagic = 0x01021994 // statfs(2)

func inMemory(t *testing.T, dir string) bool {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return s.Type == tmpfsMagic
}

// awaitLine waits until the file at path has one empty line.
func awaitLine(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 10000 {
		if info, err := os.Stat(path); err == nil && info.Size() == 1 {
			return
		}
		<-tick.C
	}
	t.Fatalf("%s has no line", path)
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
	p := started(t, Command{}, "head -c 1048576 /dev/zero > "+filepath.Join(dir, "own")+"; (head -c 1048576 /dev/zero > "+filepath.Join(dir, "childs")+"); echo > "+filepath.Join(dir, "waited")+"; read x")
	awaitLine(t, filepath.Join(dir, "waited")) // the shell counts a child when it has waited for it
	if _, ok := p.Written(); ok {
		t.Error("known of a process that runs")
	}
	_ = p.Close() // ended by its signal
	if n, ok := p.Written(); !ok || n < 2*size || n > 3*size {
		t.Errorf("got %d bytes, %v; want %d and a little", n, ok, 2*size)
	}
}
