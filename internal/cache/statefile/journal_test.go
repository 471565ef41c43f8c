package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func testFormat() Format { return Format{Magic: "edge\x00te\x1a", Version: 3} }

// journalOf writes a journal with these records, all but the first by Append, and returns
// its path and bytes.
func journalOf(t *testing.T, records ...string) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal")
	j, err := WriteJournal(path, testFormat(), func(add func([]byte) error) error { return add([]byte(records[0])) })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		if err := j.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if content, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if got := int64(len(content)); got != j.Size() {
		t.Errorf("got a file of %d bytes, want Size, which is %d", got, j.Size())
	}
	return path, content
}

func readJournal(path string) (records []string, torn int64, err error) {
	torn, err = ReadJournal(path, testFormat(), func(r []byte) error {
		records = append(records, string(r))
		return nil
	})
	return records, torn, err
}

// overwrite puts other bytes at path.
func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAJournalHasWhatWasAddedInItsOrder(t *testing.T) {
	want := []string{"one", "two", strings.Repeat("3", 100_000), "\x00", "five\x00\x00"}
	path, _ := journalOf(t, want...)
	got, torn, err := readJournal(path)
	if err != nil || torn != 0 || !slices.Equal(got, want) {
		t.Errorf("got %d records, %d bytes torn, error %v; want the %d that were added", len(got), torn, err, len(want))
	}
	if got := others(t, path); len(got) != 0 {
		t.Errorf("got %q beside the file, want nothing", got)
	}
}

func TestAJournalThatEndsTooSoonHasTheRecordsBefore(t *testing.T) {
	records := []string{"first", "second\x00\x00", "the third"}
	path, content := journalOf(t, records...)
	ends := []int{journalHeadBytes}
	for _, r := range records {
		ends = append(ends, ends[len(ends)-1]+int(recordBytes(len(r))))
	}
	f := func(what string, n int, b []byte) {
		t.Helper()
		overwrite(t, path, b)
		got, torn, err := readJournal(path)
		whole := 0
		for whole < len(records) && ends[whole+1] <= n {
			whole++
		}
		if err != nil || !slices.Equal(got, records[:whole]) || torn != int64(len(b)-ends[whole]) {
			t.Errorf("%s from byte %d of %d: got %q, %d bytes torn, error %v; want %q", what, n, len(content), got, torn, err, records[:whole])
		}
	}

	for n := journalHeadBytes; n <= len(content); n++ {
		f("cut", n, content[:n])
		if n > ends[2] { // within the last record
			f("zeros", n, append(bytes.Clone(content[:n]), make([]byte, len(content)-n)...))
			f("zeros, and longer", n, append(bytes.Clone(content[:n]), make([]byte, len(content)-n+5000)...))
		}
	}
	for n := range journalHeadBytes {
		overwrite(t, path, content[:n])
		if _, _, err := readJournal(path); !errors.Is(err, ErrTorn) {
			t.Errorf("the first %d bytes: got error %v, want ErrTorn", n, err)
		}
	}
}

// A byte that changed is never taken for a tail: what was there was kept, and somebody
// relies on it.
func TestAChangedByteIsDamageAndNoTail(t *testing.T) {
	path, content := journalOf(t, "first", "second", "the third")
	for i := len(testFormat().Magic); i < len(content); i++ {
		b := bytes.Clone(content)
		b[i] ^= 0x55
		overwrite(t, path, b)
		_, torn, err := readJournal(path)
		version, isVersion := errors.AsType[*VersionError](err)
		damage, isDamage := errors.AsType[*DamageError](err)
		switch {
		case i < 12 && isVersion && version.Want == 3:
		case i >= 12 && isDamage && errors.Is(err, ErrTorn) && damage.Offset <= int64(i) && strings.Contains(err.Error(), path):
		default:
			t.Errorf("byte %d of %d: got %d bytes torn, error %v; want a version or a damage at it", i, len(content), torn, err)
		}
	}
}

// Each record belongs behind the one before.
func TestRecordsInAnotherOrderAreDamage(t *testing.T) {
	path, content := journalOf(t, "first", "other", "third")
	n := int(recordBytes(len("first")))
	head, a, b, c := content[:journalHeadBytes], content[journalHeadBytes:][:n], content[journalHeadBytes+n:][:n], content[journalHeadBytes+2*n:]
	f := func(parts ...[]byte) {
		t.Helper()
		overwrite(t, path, slices.Concat(parts...))
		if got, _, err := readJournal(path); !errors.Is(err, ErrTorn) {
			t.Errorf("got %q, error %v, want ErrTorn", got, err)
		}
	}
	f(head, a, c)
	f(head, b, a, c)
	f(head, b)
	f(head, a, a, b, c)
}

func TestOtherFilesAreNoJournalAndStay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	if _, _, err := readJournal(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want fs.ErrNotExist", err)
	}
	for _, content := range []string{"edgeproxy: 1\n", "x", strings.Repeat("\x00", 64)} {
		overwrite(t, path, []byte(content))
		if _, _, err := readJournal(path); !errors.Is(err, ErrForeign) {
			t.Errorf("%.20q: got %v, want ErrForeign", content, err)
		}
	}
	mustWrite(t, path, "a state")
	if _, _, err := readJournal(path); !errors.Is(err, ErrForeign) {
		t.Errorf("a state file: got %v, want ErrForeign", err)
	}
	if _, err := WriteJournal(dir, testFormat(), func(func([]byte) error) error { return nil }); !errors.Is(err, ErrIrregular) {
		t.Errorf("a folder: got %v, want ErrIrregular", err)
	}
}

func TestAWriteThatFailsLeavesTheOldJournal(t *testing.T) {
	path, _ := journalOf(t, "old")
	want := errors.New("no more")
	for _, write := range []func(func([]byte) error) error{
		func(func([]byte) error) error { return want },
		func(add func([]byte) error) error { return add(nil) },
		func(add func([]byte) error) error { return add(make([]byte, MaxRecordBytes+1)) },
	} {
		if _, err := WriteJournal(path, testFormat(), write); err == nil {
			t.Error("got no error")
		}
		if got, _, err := readJournal(path); err != nil || !slices.Equal(got, []string{"old"}) {
			t.Errorf("got %q, %v, want the old journal", got, err)
		}
		if got := others(t, path); len(got) != 0 {
			t.Errorf("got %q beside the file, want nothing", got)
		}
	}
}

// After a failed Append the end of the file is unknown: a record behind it might be
// behind half a record.
func TestAfterAFailedAppendNothingIsAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := WriteJournal(path, testFormat(), func(add func([]byte) error) error { return add([]byte("first")) })
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	first := j.Append([]byte("second"))
	if second := j.Append([]byte("third")); first == nil || !errors.Is(second, first) {
		t.Errorf("got %v and then %v, want an error that stays", first, second)
	}
}

func TestADirectoryHasOneUser(t *testing.T) {
	dir := t.TempDir()
	release, err := ClaimDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ClaimDir(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("claimed twice: got %v, want ErrInUse", err)
	}
	release()
	again, err := ClaimDir(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
	if _, err := ClaimDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: got %v, want fs.ErrNotExist", err)
	}
}

func FuzzReadJournal(f *testing.F) {
	head := string(testFormat().head())
	f.Add([]byte(head))
	f.Add([]byte(head + "\x05\x00\x00\x00aaaabbbbhello\xa5"))
	path := filepath.Join(f.TempDir(), "journal")
	f.Fuzz(func(t *testing.T, content []byte) {
		path := fmt.Sprint(path, os.Getpid())
		overwrite(t, path, content)
		read := int64(journalHeadBytes)
		torn, err := ReadJournal(path, testFormat(), func(r []byte) error {
			read += recordBytes(len(r))
			return nil
		})
		if err == nil && read+torn != int64(len(content)) {
			t.Errorf("read %d and left out %d of %d bytes", read, torn, len(content))
		}
	})
}
