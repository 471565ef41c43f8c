package nonblock_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"edgeproxy/internal/conn/nonblock"
)

// sockets returns two that are connected and never block.
func sockets(t *testing.T) (a, b int) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Close(pair[0])
		_ = syscall.Close(pair[1])
	})
	return pair[0], pair[1]
}

func TestWhatIsSentIsRead(t *testing.T) {
	a, b := sockets(t)
	buf := make([]byte, 16)
	for name, read := range map[string]func(int, []byte) (int, error){"Read": nonblock.Read, "ReadTold": nonblock.ReadTold} {
		if n, err := read(b, buf); n != -1 || err != syscall.EAGAIN { //nolint:errorlint // bare, as promised
			t.Errorf("%s, nothing there: got %d and %v, want -1 and EAGAIN", name, n, err)
		}
		for _, more := range []bool{false, true} {
			if n, err := nonblock.Send(a, []byte("hello"), more); n != 5 || err != nil {
				t.Fatalf("Send: got %d and %v", n, err)
			}
			if n, err := read(b, buf); err != nil || string(buf[:max(n, 0)]) != "hello" {
				t.Errorf("%s: got %q and %v", name, buf[:max(n, 0)], err)
			}
		}
	}
}

func TestSendTakesAsMuchAsThereIsRoomFor(t *testing.T) {
	a, _ := sockets(t)
	whole := make([]byte, 16<<20)
	n, err := nonblock.Send(a, whole, false)
	if err != nil || n <= 0 || n == len(whole) {
		t.Fatalf("the first: got %d and %v, want a part", n, err)
	}
	for err == nil {
		n, err = nonblock.Send(a, whole, false)
	}
	if n != -1 || !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("without room: got %d and %v, want -1 and EAGAIN", n, err)
	}
}

// TestTwoPiecesAreSentByOneCall: one behind the other, also where the socket takes a part of them only.
func TestTwoPiecesAreSentByOneCall(t *testing.T) {
	a, b := sockets(t)
	buf := make([]byte, 16)
	if n, err := nonblock.SendBoth(a, []byte("head"), []byte("body")); n != 8 || err != nil {
		t.Fatalf("got %d and %v, want 8", n, err)
	}
	if n, err := nonblock.Read(b, buf); err != nil || string(buf[:max(n, 0)]) != "headbody" {
		t.Errorf("got %q and %v", buf[:max(n, 0)], err)
	}
	whole := make([]byte, 16<<20)
	n, err := nonblock.SendBoth(a, []byte("head"), whole)
	if err != nil || n <= 4 || n == 4+len(whole) {
		t.Fatalf("a long one: got %d and %v, want a part", n, err)
	}
	for err == nil {
		n, err = nonblock.SendBoth(a, whole, whole)
	}
	if n != -1 || err != syscall.EAGAIN { //nolint:errorlint // bare, as promised
		t.Errorf("without room: got %d and %v, want -1 and EAGAIN", n, err)
	}
	_ = syscall.Shutdown(b, syscall.SHUT_RDWR)
	if n, err := nonblock.SendBoth(a, buf, buf); n != -1 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("an end: got %d and %v, want -1 and EPIPE, and no signal", n, err)
	}
}

// TestWhatThePageCacheHasIsRead from any offset, also one that takes more than 32 bits.
func TestWhatThePageCacheHasIsRead(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const far = 5 << 30
	for _, at := range []int64{0, far} {
		if _, err := file.WriteAt([]byte("0123456789"), at); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 4)
	for _, at := range []int64{0, far} {
		n, err := nonblock.ReadCached(int(file.Fd()), buf, at+3)
		if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
			t.Skip("the system does not tell what lies in its page cache")
		}
		if n != 4 || err != nil || string(buf) != "3456" {
			t.Errorf("at %d: got %d, %q and %v, want 3456", at+3, n, buf, err)
		}
	}
	if n, err := nonblock.ReadCached(int(file.Fd()), buf, far+10); n != 0 || err != nil {
		t.Errorf("at the end: got %d and %v, want 0", n, err)
	}
	if n, err := nonblock.ReadCached(-1, buf, 0); n != -1 || !errors.Is(err, syscall.EBADF) {
		t.Errorf("no file: got %d and %v, want -1 and EBADF", n, err)
	}
}

func TestAFileIsSentFromAnOffsetOn(t *testing.T) {
	a, b := sockets(t)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	offset := int64(4)
	if n, err := nonblock.Sendfile(a, int(file.Fd()), &offset, 3); n != 3 || err != nil || offset != 7 {
		t.Fatalf("got %d and %v, and offset %d, want 3 and 7", n, err, offset)
	}
	buf := make([]byte, 16)
	if n, err := nonblock.Read(b, buf); err != nil || !bytes.Equal(buf[:max(n, 0)], []byte("456")) {
		t.Errorf("got %q and %v, want 456", buf[:max(n, 0)], err)
	}
	offset = 10
	if n, err := nonblock.Sendfile(a, int(file.Fd()), &offset, 3); n != 0 || err != nil {
		t.Errorf("behind the end: got %d and %v, want 0", n, err)
	}
	if n, err := nonblock.Sendfile(a, -1, &offset, 3); n != -1 || !errors.Is(err, syscall.EBADF) {
		t.Errorf("no file: got %d and %v, want -1 and EBADF", n, err)
	}
}

// TestAnEndIsAnErrorAndNoSignal: SIGPIPE would end a program in which nothing waits for it.
func TestAnEndIsAnErrorAndNoSignal(t *testing.T) {
	a, b := sockets(t)
	if err := syscall.Shutdown(b, syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if n, err := nonblock.Read(a, make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("Read: got %d and %v, want 0: the end", n, err)
	}
	if n, err := nonblock.Send(a, []byte("x"), false); n != -1 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Send: got %d and %v, want -1 and EPIPE", n, err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	a, b := sockets(t)
	out, in := []byte("hello"), make([]byte, 16)
	if got := testing.AllocsPerRun(100, func() {
		_, _ = nonblock.Read(b, in) // nothing there
		_, _ = nonblock.Send(a, out, false)
		_, _ = nonblock.Read(b, in)
		_, _ = nonblock.SendBoth(a, out, out)
		_, _ = nonblock.Read(b, in)
		_, _ = nonblock.ReadCached(-1, in, 0)
	}); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
