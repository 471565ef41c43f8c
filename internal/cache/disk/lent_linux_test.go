package disk

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"edgeproxy/internal/cache/disk/device"
	"edgeproxy/internal/cache/disk/layout"
)

// sending is a body on its way: the system has taken all of it from its file, and its reader has not begun to read.
type sending struct {
	n, length int
	reader    net.Conn
}

// send has the system take all of the body of key n for a connection of its own.
func send(t *testing.T, s *Store, n, length int) sending {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reader, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	writer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
		t.Fatalf("key %d: not found", n)
	}
	if err := h.Check(0, h.Size()); err != nil {
		t.Fatalf("key %d: %v", n, err)
	}
	f, at, ok := h.File()
	if !ok {
		t.Skip("no body is sent from its file here")
	}
	conn, err := writer.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	left := length
	if err := conn.Write(func(fd uintptr) bool {
		for left > 0 {
			sent, err := unix.Sendfile(int(fd), int(f.Fd()), &at, left)
			if err != nil {
				return err != unix.EAGAIN
			}
			left -= sent
		}
		return true
	}); err != nil || left > 0 {
		t.Fatalf("key %d: %d bytes were not taken: %v", n, left, err)
	}
	return sending{n: n, length: length, reader: reader}
}

// arrives fails the test if what is read is not the body that was sent.
func (s sending) arrives(t *testing.T) {
	t.Helper()
	got, err := io.ReadAll(s.reader)
	if err != nil {
		t.Errorf("key %d: %v", s.n, err)
	}
	want := bodyOf(s.n, 1, s.length)
	if bytes.Equal(got, want) {
		return
	}
	wrong, zero := 0, 0
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			wrong++
			if got[i] == 0 {
				zero++
			}
		}
	}
	t.Errorf("key %d: got %d bytes, of which %d are others than were stored, %d of them zero", s.n, len(got), wrong, zero)
}

// TestAPunchZeroedWhatWasStillBeingSent: a record goes when its answer has been given to the system, but has not been read by the
// client. A page of the page cache can be longer than the pages that a hole is made of: then the hole zeroes a part of it, which waits in
// the socket.
func TestAPunchZeroedWhatWasStillBeingSent(t *testing.T) {
	const records, length = 60, 150_000
	leaves := map[string]func(*testing.T, *Store, []sending){
		"removed": func(t *testing.T, s *Store, _ []sending) {
			t.Helper()
			for n := range records / 4 {
				s.Remove(hashOf(keyOf(2 * n)))
				settle(t, s)
			}
		},
		"evicted": func(t *testing.T, s *Store, lent []sending) {
			t.Helper()
			held := func(one sending) bool { return one.n%2 == 0 && s.Holds(hashOf(keyOf(one.n))) }
			for n := records; slices.ContainsFunc(lent, held); n++ {
				for _, one := range lent {
					if one.n%2 == 1 { // in demand: it stays, and those beside it go
						s.Touch(hashOf(keyOf(one.n)))
					}
				}
				store(t, s, n, 1, length)
				settle(t, s)
			}
		},
	}
	for name, leave := range leaves {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{Path: t.TempDir(), MaxBytes: 64 << 20})
			for n := range records {
				store(t, s, n, 1, length)
			}
			settle(t, s)
			var all []sending
			for n := range records / 2 {
				all = append(all, send(t, s, n, length))
			}
			wrote := s.Stats().WriteBytes
			leave(t, s, all)
			if s.Stats().WriteBytes-wrote < 4096 {
				t.Error("nothing was written to take a page out of the page cache, or it was not counted")
			}
			for _, one := range all {
				one.arrives(t)
			}
		})
	}
}

// TestARestartForgotWhatWasBeingSent: what an earlier process has given to the system, or this one before its directory had failed, is on its way to clients still
// when the directory is open again.
func TestARestartForgotWhatWasBeingSent(t *testing.T) {
	const records, length = 60, 150_000
	opens := map[string]func(*testing.T, *Store) *Store{
		"another process": func(t *testing.T, s *Store) *Store {
			t.Helper()
			s.Close()
			return open(t, s.o)
		},
		"the same after a failure": func(t *testing.T, s *Store) *Store {
			t.Helper()
			failAndComeBack(t, s)
			return s
		},
	}
	for name, again := range opens {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{Path: t.TempDir(), MaxBytes: 64 << 20, every: soon})
			for n := range records {
				store(t, s, n, 1, length)
			}
			settle(t, s)
			var all []sending
			for n := range records / 2 {
				all = append(all, send(t, s, n, length))
			}
			s = again(t, s)
			filled(t, s)
			for n := range records / 4 {
				s.Remove(hashOf(keyOf(2 * n)))
				settle(t, s)
			}
			for _, one := range all {
				one.arrives(t)
			}
		})
	}
}

// failAndComeBack has the directory fail, and waits until it is in use again.
func failAndComeBack(t *testing.T, s *Store) {
	t.Helper()
	was := s.volume.Load()
	was.fail(errors.New("a test"))
	until(t, "the directory is back", func() bool { v := s.volume.Load(); return v != nil && v != was })
}

// TestABodyWasPunchedUnderAReaderFromBeforeAFailure: the directory has failed and is back while a client takes a part of a body that was checked before.
func TestABodyWasPunchedUnderAReaderFromBeforeAFailure(t *testing.T) {
	const length = 150_000
	path := t.TempDir()
	s := open(t, Options{Path: path, MaxBytes: 64 << 20, every: soon})
	for n := range 60 {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("not found")
	}
	f, at, ok := h.File()
	if !ok {
		t.Skip("no body is sent from its file here")
	}
	if err := h.Check(0, length); err != nil {
		t.Fatal(err)
	}
	failAndComeBack(t, s)
	filled(t, s)
	before := onDisk(t, path)
	s.Remove(hashOf(keyOf(1)))
	settle(t, s)
	got := make([]byte, length)
	if _, err := f.ReadAt(got, at); err != nil || !bytes.Equal(got, bodyOf(1, 1, length)) {
		t.Errorf("what was checked and not sent yet has changed (%v)", err)
	}
	h.Close()
	until(t, "the record is freed when nobody reads it any more", func() bool { return onDisk(t, path) < before-length/2 })
}

// TestAPunchOfWhatWasNotLentZeroedItsNeighbour: XFS with blocks longer than 4 KiB takes whole blocks out of the page cache, and zeroes what a long page has of them,
// also before the hole. To see it, TMPDIR has to lie on such a one.
func TestAPunchOfWhatWasNotLentZeroedItsNeighbour(t *testing.T) {
	const records, length = 120, 150_000
	path := t.TempDir()
	s := open(t, Options{Path: path, MaxBytes: 2 << 30})
	for n := range records {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	readFiles(t, path) // one after the other, and long ones: so pages are long
	var all []sending
	for n := 0; n < records/2; n += 2 {
		all = append(all, send(t, s, n, length))
	}
	for n := 1; n < records/2; n += 2 {
		s.Remove(hashOf(keyOf(n)))
		settle(t, s)
	}
	for _, one := range all {
		one.arrives(t)
	}
}

// What was never sent from its file costs no write when it goes.
func TestWhatWasNotLentIsNotWrittenAgain(t *testing.T) {
	s := open(t, Options{Path: t.TempDir(), MaxBytes: 64 << 20})
	for n := range 60 {
		store(t, s, n, 1, 150_000)
	}
	settle(t, s)
	for n := range 15 {
		get(t, s, 2*n)
	}
	wrote := s.Stats().WriteBytes
	for n := range 15 {
		s.Remove(hashOf(keyOf(2 * n)))
	}
	settle(t, s)
	if more := s.Stats().WriteBytes - wrote; more >= 4096 { // the log of removals takes a few bytes
		t.Errorf("got %d bytes more written, want no page", more)
	}
}

// TestNothingWasFreedWhereNothingCanBeDetached: no write past the page cache is allowed, and what was there at the start has to go all the same.
func TestNothingWasFreedWhereNothingCanBeDetached(t *testing.T) {
	const records, length = 60, 150_000
	path := t.TempDir()
	s := open(t, Options{Path: path, MaxBytes: 64 << 20})
	for n := range records {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	for n := range records {
		get(t, s, n) // the page cache has it
	}
	s.Close()
	refuses := func(c device.Call) error {
		if c.Op == device.Write && c.Bytes == layout.Page {
			return unix.EACCES
		}
		return nil
	}
	s = open(t, Options{Path: path, MaxBytes: 64 << 20, Hook: refuses})
	filled(t, s)
	before := onDisk(t, path)
	for n := range records / 4 {
		s.Remove(hashOf(keyOf(2 * n)))
		settle(t, s)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	if got := before - onDisk(t, path); got < records/4*length {
		t.Errorf("got %d bytes freed, want %d at least", got, records/4*length)
	}
}

// Where nothing can be written past the page cache, no file is lent, and bodies are read.
func TestWithoutWritesPastThePageCacheNoFileIsLent(t *testing.T) {
	path := "/dev/shm"
	dir, err := os.MkdirTemp(path, "edgeproxy-disk-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := open(t, Options{Path: dir, MaxBytes: MinBytes})
	store(t, s, 1, 1, 150_000)
	settle(t, s)
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(1)), keyOf(1), &h) {
		t.Fatal("not found")
	}
	if _, _, ok := h.File(); ok {
		t.Error("a file of tmpfs was lent")
	}
	holds(t, s, 1, 1, 150_000)
}
