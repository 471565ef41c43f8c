package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// lastOf opens the file at path, and closes it at the end of the test.
func lastOf(t *testing.T, path string) (*LastFile, Last, bool) {
	t.Helper()
	f, l, known, err := OpenLast(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f, l, known
}

func TestLastIsWhatWasSetLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	for i := range uint64(7) {
		f, l, known := lastOf(t, path)
		if want := (Last{i, 2 * i, 3}); known != (i > 0) || known && l != want {
			t.Fatalf("got %v, %v, want %v", l, known, want)
		}
		for j := range uint64(3) { // with this one, and with those before
			if err := f.Set(Last{i + 1 - j%2, 2 * (i + 1), 3}); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		if got := others(t, path); len(got) != 0 {
			t.Errorf("got %q beside the file, want nothing", got)
		}
	}
}

// Whatever becomes of the slot that is being written, the value before is there.
func TestAnUnfinishedSetLeavesTheValueBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	f, _, _ := lastOf(t, path)
	for i := range uint64(4) {
		if err := f.Set(Last{i}); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		slot, offset := Last{i + 1}.Slot(f.turn + 1)
		for cut := range slot {
			torn := append([]byte{}, before...)
			if end := int(offset) + len(slot); len(torn) < end {
				torn = append(torn, make([]byte, end-len(torn))...)
			}
			copy(torn[offset:], slot[:cut])
			overwrite(t, path+".torn", torn)
			if _, l, known := lastOf(t, path+".torn"); !known || l != (Last{i}) {
				t.Fatalf("%d bytes of the slot written: got %v, %v, want %v", cut, l, known, Last{i})
			}
		}
	}
}

func TestAFileWithoutALastIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	for _, content := range []string{"", "of somebody else", string(make([]byte, 9000))} {
		overwrite(t, path, []byte(content))
		f, _, known := lastOf(t, path)
		if known {
			t.Errorf("%.10q: got a value, want none", content)
		}
		if err := f.Set(Last{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		if _, l, known := lastOf(t, path); !known || l != (Last{1, 2, 3}) {
			t.Errorf("%.10q: got %v, %v, want what was set", content, l, known)
		}
	}
	if err := errors.Join(os.Remove(path), os.Symlink("elsewhere", path)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := OpenLast(path); !errors.Is(err, ErrIrregular) {
		t.Errorf("a link: got %v, want ErrIrregular", err)
	}
}

// After an error the file is made anew, for it may be that part of the disk that is broken.
func TestASetThatFailedMakesANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last")
	f, _, _ := lastOf(t, path)
	if err := f.Set(Last{1}); err != nil {
		t.Fatal(err)
	}
	_ = f.file.Close() // so that the next write fails
	if err := f.Set(Last{2}); err == nil {
		t.Fatal("got no error from a closed file")
	}
	if err := f.Set(Last{3}); err != nil {
		t.Fatal(err)
	}
	if _, l, known := lastOf(t, path); !known || l != (Last{3}) {
		t.Errorf("got %v, %v, want what was set", l, known)
	}
}
