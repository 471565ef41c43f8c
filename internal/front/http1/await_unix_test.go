//go:build unix

package http1

import (
	"syscall"
	"testing"
)

// TestManyReadsInARowTellTheScheduler: a connection whose next request has always come gives its processor up
// only when the scheduler's watcher tells it to, and a read that it is not told of does not wake that.
func TestManyReadsInARowTellTheScheduler(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	if err := syscall.SetNonblock(pair[1], true); err != nil {
		t.Fatal(err)
	}
	s := serverOf(nil, 0)
	c := &conn{server: s}
	defer c.freeBuffer()
	a := &awaiter{conn: c}
	told := 0
	for n := range 3 * maxUntoldReads {
		if _, err := syscall.Write(pair[0], []byte("x")); err != nil {
			t.Fatal(err)
		}
		if !a.read(uintptr(pair[1])) || a.n != 1 {
			t.Fatalf("read %d: got %d bytes, want 1", n+1, a.n)
		}
		if a.untoldReads == 0 {
			told++
		}
	}
	if told != 3 {
		t.Errorf("got %d reads of %d that the scheduler is told of, want 3", told, 3*maxUntoldReads)
	}
	a.untoldReads = maxUntoldReads - 2
	if a.read(uintptr(pair[1])) {
		t.Error("read what is not there")
	}
	if a.untoldReads != 0 {
		t.Errorf("behind a wait: got %d reads in a row, want 0", a.untoldReads)
	}
}
