package statefile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func put(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func mustWrite(t testing.TB, path, content string) {
	t.Helper()
	if err := Write(path, put(content)); err != nil {
		t.Fatal(err)
	}
}

// read returns the content at path as Open gives it.
func read(path string) (string, error) {
	f, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	if got, err := read(path); err != nil || got != want {
		t.Errorf("%s: got %.40q (%d bytes) and error %v, want %.40q (%d bytes)", filepath.Base(path), got, len(got), err, want, len(want))
	}
}

// others returns the names in the directory of path, except path's own.
func others(t *testing.T, path string) []string {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range files {
		if f.Name() != filepath.Base(path) {
			out = append(out, f.Name())
		}
	}
	return out
}

func TestWhatWasWrittenIsReadAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, content := range []string{"one", "", strings.Repeat("three ", 200_000), "4"} {
		mustWrite(t, path, content)
		wantContent(t, path, content)
		if got := others(t, path); len(got) != 0 {
			t.Errorf("after Write: got %q beside the file, want nothing", got)
		}
	}
}

func TestManySmallWritesAreOneContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	var want bytes.Buffer
	err := Write(path, func(w io.Writer) error {
		for i := range 300_000 {
			b := []byte{byte(i), byte(i >> 8)}
			want.Write(b)
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, want.String())
}

func TestARelativePathWithoutADirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	mustWrite(t, "state", "here")
	wantContent(t, "state", "here")
}

func TestFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	f := func(mode fs.FileMode, want bool) {
		t.Helper()
		mustWrite(t, path, "secret")
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("after Write: got mode %v, error %v, want %v", info.Mode(), err, fs.FileMode(0o600))
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if got.Exposed() != want {
			t.Errorf("Exposed with mode %v: got %v, want %v", mode, got.Exposed(), want)
		}
	}
	f(0o600, false)
	f(0o400, false)
	f(0o640, true)
	f(0o604, true)
	f(0o620, true)
}

func TestNoFileIsNotThere(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "state")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want it to be fs.ErrNotExist", err)
	}
}

func TestAnythingButARegularFileIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	mustWrite(t, target, "precious")
	f := func(name string, create func(path string) error) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := create(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		if _, err := Open(path); !errors.Is(err, ErrIrregular) {
			t.Errorf("Open of a %s: got %v, want ErrIrregular", name, err)
		}
		if err := Write(path, put("new")); !errors.Is(err, ErrIrregular) {
			t.Errorf("Write to a %s: got %v, want ErrIrregular", name, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s after Write: got %v, %v, want it untouched", name, after, err)
		}
	}
	f("link", func(path string) error { return os.Symlink(target, path) })
	f("dangling link", func(path string) error { return os.Symlink(path+"nowhere", path) })
	f("directory", func(path string) error { return os.Mkdir(path, 0o700) })
	wantContent(t, target, "precious")
}

func TestAWriteThatFailsLeavesTheOldContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	mustWrite(t, path, "old")
	broken := errors.New("broken")
	f := func(name string, write func(io.Writer) error, want error) {
		t.Helper()
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = p.(error)
				}
			}()
			return Write(path, write)
		}()
		if !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v in it", name, err, want)
		}
		wantContent(t, path, "old")
		if got := others(t, path); len(got) != 0 {
			t.Errorf("%s: got %q left behind, want nothing", name, got)
		}
	}
	f("at once", func(io.Writer) error { return broken }, broken)
	f("late", func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 3*bufferBytes))
		return broken
	}, broken)
	f("panic", func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 3*bufferBytes))
		panic(broken)
	}, broken)
}

func TestWriteSaysWhichFileAndWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "state")
	err := Write(path, put("x"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want fs.ErrNotExist with the path", err)
	}
}

func TestLeftoversOfKilledWritesGoAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	keep := []string{"state.x1.tmp", "state..tmp", "state.tmp", "other.1.tmp", "state.2.tmp.gz", "xstate.3.tmp"}
	for _, name := range append([]string{"state.1.tmp", "state.123456789.tmp"}, keep...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "state.4.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, path, "new")
	want := append(keep, "state.4.tmp")
	slices.Sort(want)
	if got := others(t, path); !slices.Equal(got, want) {
		t.Errorf("beside the file: got %q, want %q", got, want)
	}
}

// A second process on the same path must not take a file that is being written
// for a leftover, nor one that it has only just made.
func TestATemporaryFileInUseIsNoLeftover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	leftover := path + ".1.tmp"
	if err := os.WriteFile(leftover, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		inUse := others(t, path)
		if err := Write(path, put("second, ends first")); err != nil {
			t.Errorf("the second: got %v, want it written", err)
		}
		if got := others(t, path); len(got) != 1 || !slices.Equal(got, inUse) {
			t.Errorf("beside the file: got %q, want the one in use, %q", got, inUse)
		}
		wantContent(t, path, "second, ends first")
		return put("first, ends last")(w)
	})
	if err != nil {
		t.Errorf("the first: got %v, want it written", err)
	}
	wantContent(t, path, "first, ends last")
	if got := others(t, path); len(got) != 0 {
		t.Errorf("in the end: got %q beside the file, want nothing", got)
	}
}

// Between its creation and its claim a temporary file looks like a leftover:
// however simultaneous Writes meet, all of them succeed.
func TestSimultaneousWritesAllSucceed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for range 25 {
				if err := Write(path, put(strings.Repeat("x", writer))); err != nil {
					t.Errorf("writer %d: got %v, want no error", writer, err)
				}
			}
		})
	}
	wg.Wait()
	if got, err := read(path); err != nil || len(got) > 3 {
		t.Errorf("got %q, %v, want the content of one of them", got, err)
	}
	if got := others(t, path); len(got) != 0 {
		t.Errorf("got %q beside the file, want nothing", got)
	}
}

// What a moment between creation and claim looks like to createTemp.
func TestAFileThatIsGoneIsNotNamed(t *testing.T) {
	dir := t.TempDir()
	f := func(what string, change func(path string) error, want bool) {
		t.Helper()
		temp, err := createTemp(dir, "state")
		if err != nil {
			t.Fatal(err)
		}
		defer temp.Close()
		if err := change(temp.Name()); err != nil {
			t.Fatal(err)
		}
		if got := hasItsName(temp); got != want {
			t.Errorf("%s: got named %v, want %v", what, got, want)
		}
	}
	f("as made", func(string) error { return nil }, true)
	f("removed", os.Remove, false)
	f("another in its place", func(path string) error {
		if err := os.Rename(path, path+"x"); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o600)
	}, false)
}

// What Write makes of a temporary file must be what removeLeftovers knows.
func TestATemporaryFileIsRecognisedAsSuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	err := Write(path, func(io.Writer) error {
		got := others(t, path)
		if len(got) != 1 || !isTemp(got[0], "state") {
			t.Errorf("while writing: got %q, want one temporary file", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnOpenFileOutlivesItsReplacement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	mustWrite(t, path, "old content")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mustWrite(t, path, "new")
	if got, err := io.ReadAll(f); err != nil || string(got) != "old content" {
		t.Errorf("got %q, %v, want the content as opened", got, err)
	}
}

func TestATornFileIsRefusedAtEveryLength(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	mustWrite(t, path, "some content that matters")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn")
	f := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(torn, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(torn); !errors.Is(err, ErrTorn) {
			t.Errorf("%d of %d bytes: got %q and error %v, want ErrTorn", len(b), len(whole), got, err)
		}
	}
	for n := range whole {
		f(whole[:n])
	}
	f(append(bytes.Clone(whole), 0))
	f(append(bytes.Clone(whole), whole...))
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	mustWrite(t, path, "some content that matters")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(path)
		var version *VersionError
		switch at := bit / 8; {
		case err == nil:
			t.Errorf("bit %d of byte %d: got %q, want an error", bit%8, at, got)
		case at < 8 && !errors.Is(err, ErrForeign),
			at >= 8 && at < 12 && !errors.As(err, &version),
			at >= 12 && !errors.Is(err, ErrTorn):
			t.Errorf("bit %d of byte %d: got %v, want the error of its field", bit%8, at, err)
		}
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, content := range []string{"#!/bin/sh\n", "x", strings.Repeat("\x00", 5000), "edge", "edgeproxy: 1\n" + strings.Repeat("x", 100)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		want := ErrForeign
		if strings.HasPrefix(magic, content) {
			want = ErrTorn
		}
		if _, err := read(path); !errors.Is(err, want) {
			t.Errorf("file %.20q: got %v, want %v", content, err, want)
		}
	}
}

func TestAnotherVersionIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	mustWrite(t, path, "x")
	b, _ := os.ReadFile(path)
	b[8] = version + 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := read(path)
	var got *VersionError
	if !errors.As(err, &got) || *got != (VersionError{Got: version + 1, Want: version}) {
		t.Errorf("got %v, want a VersionError with both versions", err)
	}
	if want := "state file of version 2: must be version 1"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want it to contain %q", err, want)
	}
}

func TestContentBeyondTheLimitIsRefusedBothWays(t *testing.T) {
	s := &checksumWriter{w: io.Discard, table: castagnoli(), length: MaxBytes - 1}
	if _, err := s.Write([]byte("a")); err != nil {
		t.Errorf("up to the limit: got %v, want no error", err)
	}
	if _, err := s.Write([]byte("b")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the limit: got %v, want ErrTooLarge", err)
	}
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, header{length: MaxBytes + 1}.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path); !errors.Is(err, ErrTooLarge) {
		t.Errorf("header of a larger content: got %v, want ErrTooLarge", err)
	}
}

// FuzzOpen holds Open to its law: what it accepts is header and content, byte
// for byte.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	for _, content := range []string{"", "x", "some content that matters"} {
		mustWrite(f, path, content)
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		content, err := read(path)
		if err != nil {
			return
		}
		again := filepath.Join(t.TempDir(), "again")
		mustWrite(t, again, content)
		if want, err := os.ReadFile(again); err != nil || !bytes.Equal(b, want) {
			t.Errorf("accepted %x, which Write would not have made of its content; error %v", b, err)
		}
	})
}
