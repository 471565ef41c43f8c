package spool

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/test/testkit"
)

// TestAKilledProcessLeftAFile: one had a name from when it was made until it was removed.
func TestAKilledProcessLeftAFile(t *testing.T) {
	folder := t.TempDir()
	if f, err := os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o600); err != nil {
		t.Skipf("this file system has no files without a name: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, folder, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	_, f := open(t, folder, 1<<20)
	if _, err := f.WriteAt(make([]byte, 1000), 0); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(watch, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a file was there by name: %d bytes of events, %v", n, err)
	}
}

// TestAFullDiskIsAnError, and what was written before stays as it is.
func TestAFullDiskIsAnError(t *testing.T) {
	s, f := open(t, testkit.SmallDisk(t, 1<<20), 1<<30)
	piece, at := bytes.Repeat([]byte("0123456789abcdef"), 2048), int64(0)
	var err error
	for ; err == nil && at < 4<<20; at += int64(len(piece)) {
		_, err = f.WriteAt(piece, at)
	}
	if !errors.Is(err, unix.ENOSPC) || s.Stats().Failed == 0 {
		t.Errorf("after %d bytes: got %v, %+v; want a full disk", at, err, s.Stats())
	}
	got := make([]byte, len(piece))
	for off := int64(0); off < at-2*int64(len(piece)); off += int64(len(piece)) {
		if _, err := f.ReadAt(got, off); err != nil || !bytes.Equal(got, piece) {
			t.Fatalf("at %d: got other bytes, %v", off, err)
		}
	}
	if err := f.Close(); err != nil || s.Stats().Bytes != 0 || s.Stats().Files != 0 {
		t.Errorf("after Close: %v, %+v", err, s.Stats())
	}
}
