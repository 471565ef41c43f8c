package spool

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// open returns a Spool in folder, of limit bytes, and a file of it. The file is closed in the end.
func open(t *testing.T, folder string, limit int64) (*Spool, *File) {
	t.Helper()
	s, err := New(folder, limit)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return s, f
}

func TestAFileHasNoName(t *testing.T) {
	folder := t.TempDir()
	s, f := open(t, folder, 1<<20)
	want := bytes.Repeat([]byte("abc"), 1000)
	if _, err := f.WriteAt(want, 0); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(folder, "*")); len(names) != 0 {
		t.Errorf("there are %q", names)
	}
	if names, _ := filepath.Glob(filepath.Join(folder, ".*")); len(names) != 0 {
		t.Errorf("there are %q", names)
	}
	got := make([]byte, 1000)
	if _, err := f.ReadAt(got, 2000); err != nil || !bytes.Equal(got, want[2000:]) {
		t.Errorf("got other bytes, %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if got, want := s.Stats(), (Stats{Written: 3000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAllFilesHaveABound(t *testing.T) {
	s, err := New(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Open()
	b, _ := s.Open()
	write := func(f *File, n int, off int64, want error) {
		t.Helper()
		if _, err := f.WriteAt(make([]byte, n), off); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	write(a, 60, 0, nil)
	write(b, 60, 0, ErrFull)
	write(b, 40, 0, nil)
	write(a, 60, 0, nil) // the same place again
	write(a, 1, 60, ErrFull)
	if err := b.Reset(); err != nil {
		t.Error(err)
	}
	write(a, 40, 60, nil)
	if got := s.Stats(); got.Bytes != 100 || got.Files != 2 || got.Failed != 2 {
		t.Errorf("got %+v", got)
	}
	_ = a.Close()
	_ = a.Close()
	_ = b.Close()
	write(a, 1, 0, ErrFull) // it is closed
	if got := s.Stats(); got.Bytes != 0 || got.Files != 0 {
		t.Errorf("got %+v after all files were closed", got)
	}
}

func TestAFolderThatIsNoneIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{path, path + "/none"} {
		if _, err := New(folder, 1); err == nil {
			t.Errorf("%s is taken for a folder", folder)
		}
	}
}
