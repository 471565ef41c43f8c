package device

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func open(t *testing.T, hook Hook) *Dir {
	t.Helper()
	d, err := OpenDir(t.TempDir(), hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, direct := range []bool{true, false} {
		d := open(t, nil)
		f, err := d.Create("a", direct)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
		for at := range int64(20) {                             // beyond what may wait in the page cache
			if _, err := f.WriteAt(want, at<<20); err != nil {
				t.Fatalf("direct %v: %v", direct, err)
			}
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := f.ReadAt(got, 19<<20); err != nil || !bytes.Equal(got, want) {
			t.Errorf("direct %v: read: %v, equal: %v", direct, err, bytes.Equal(got, want))
		}
		if f.ReadNow(got[:4096], 0) && !bytes.Equal(got[:4096], want[:4096]) {
			t.Error("ReadNow: other bytes")
		}
		if f.ReadNow(got[:4096], 20<<20) {
			t.Error("ReadNow behind the end: got true")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWritesThatAreNotOfWholePagesGoThroughTheCache(t *testing.T) {
	d := open(t, nil)
	f, err := d.Create("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	if f.Direct() {
		t.Error("still direct")
	}
	got := make([]byte, 3)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "abc" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatIsPunchedIsAHole(t *testing.T) {
	d := open(t, nil)
	f, err := d.Create("a", false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{1}, 64<<10), 0); err != nil {
		t.Fatal(err)
	}
	if hole, err := f.Hole(0); err != nil || hole != 64<<10 {
		t.Errorf("before: got a hole at %d, %v, want the end", hole, err)
	}
	if err := f.Punch(16<<10, 32<<10); err != nil {
		if errors.Is(err, ErrUnsupported) {
			t.Skip("this file system has no holes")
		}
		t.Fatal(err)
	}
	hole, err := f.Hole(0)
	data, dataErr := f.Data(16 << 10)
	if err != nil || dataErr != nil || hole != 16<<10 || data != 48<<10 {
		t.Errorf("got a hole from %d to %d, %v, %v", hole, data, err, dataErr)
	}
	got := make([]byte, 1)
	if _, err := f.ReadAt(got, 20<<10); err != nil || got[0] != 0 {
		t.Errorf("got %d, %v, want 0", got[0], err)
	}
}

func TestADirectoryThatIsReplacedIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Lost(); err != nil {
		t.Errorf("as it was: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := d.Lost(); !errors.Is(err, ErrLost) {
		t.Errorf("removed: got %v, want ErrLost", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Lost(); !errors.Is(err, ErrLost) {
		t.Errorf("replaced: got %v, want ErrLost", err)
	}
	if _, err := d.Create("a", false); err == nil {
		t.Error("a file was made in a directory that is gone")
	}
}

func TestATouchedFileHasThatTimeAndItsBytes(t *testing.T) {
	d := open(t, nil)
	f, err := d.Create("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("01234567"), 0); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	if err := d.Touch("a", want); err != nil {
		t.Fatal(err)
	}
	all, err := d.List()
	if err != nil || len(all) != 1 || !all[0].Changed.Equal(want) || all[0].Bytes != 8 {
		t.Errorf("got %+v, %v, want a file of 8 bytes changed at %v", all, err, want)
	}
	if err := d.Touch("b", want); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: got %v", err)
	}
}

func TestTheHookFailsCalls(t *testing.T) {
	bad := errors.New("bad")
	var fail Op
	short := int64(-1)
	d := open(t, func(c Call) error {
		if c.Op != fail {
			return nil
		}
		if short >= 0 {
			return &ShortError{Bytes: short, Err: bad}
		}
		return bad
	})
	f, err := d.Create("a", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := map[Op]func() error{
		Create: func() error { _, err := d.Create("b", false); return err },
		Open:   func() error { _, err := d.Open("a"); return err },
		Read:   func() error { _, err := f.ReadAt(make([]byte, 1), 0); return err },
		Write:  func() error { _, err := f.WriteAt(make([]byte, 8), 0); return err },
		Sync:   f.Sync, Lost: d.Lost, SyncDir: d.Sync,
		Punch:    func() error { return f.Punch(0, 4096) },
		Cut:      func() error { return f.Cut(0) },
		Remove:   func() error { return d.Remove("a") },
		Rename:   func() error { return d.Rename("a", "b") },
		Touch:    func() error { return d.Touch("a", time.Time{}) },
		List:     func() error { _, err := d.List(); return err },
		FreeRoom: func() error { _, err := d.Room(); return err },
	}
	for op, call := range calls {
		if fail = op; !errors.Is(call(), bad) {
			t.Errorf("%s: want the hook's error", op)
		}
	}
	fail, short = Write, 5
	if n, err := f.WriteAt([]byte("01234567"), 0); n != 5 || !errors.Is(err, bad) {
		t.Errorf("short: got %d, %v", n, err)
	}
	got := make([]byte, 8)
	if n, err := f.ReadAt(got, 0); n != 5 || !errors.Is(err, io.EOF) {
		t.Errorf("after it: got %d, %v", n, err)
	}
}

func TestDetachChangesNothingAndLeavesNoPage(t *testing.T) {
	d := open(t, nil)
	f, err := d.Create("a", false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<12) // 64 KiB
	if _, err := f.WriteAt(want, 0); err != nil {
		t.Fatal(err)
	}
	if !f.CanDetach() {
		t.Skip("nothing can be written past the page cache here")
	}
	got := make([]byte, len(want))
	for range 2 {
		if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read: %v, equal: %v", err, bytes.Equal(got, want))
		}
		if n, err := f.Detach(8192, 16384); err != nil || n == 0 {
			t.Errorf("got %d bytes written and %v", n, err)
		}
	}
	for _, at := range []int64{8192, 8192 + 16384 - 4096} {
		if f.Resident(at, 4096) {
			t.Errorf("the page at %d is cached still", at)
		}
	}
	if n, err := f.Detach(8192, 16384); err != nil || n != 0 && !d.blind.Load() {
		t.Errorf("of what is not cached: got %d bytes written and %v, want none", n, err)
	}
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read: %v, equal: %v", err, bytes.Equal(got, want))
	}
}
