package accesslog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgeproxy/internal/ops/lines"
)

func mustOpen(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return l
}

// targets returns the targets in the file, separated by blanks.
func targets(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read log: %v", err)
	}
	var out []string
	for s := range strings.Lines(string(b)) {
		out = append(out, decode(t, s).Target)
	}
	return strings.Join(out, " ")
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatalf("rename: %v", err)
	}
}

func TestOpenAppendsAndKeepsOthersOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	for n := range 2 {
		l := mustOpen(t, path)
		l.Write(numbered(n))
		mustClose(t, l)
	}
	if got, want := targets(t, path), "/000000 /000001"; got != want {
		t.Errorf("file: got %q, want %q", got, want)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatalf("stat: %v", err)
	}
	if mode := info.Mode().Perm(); mode&^0o640 != 0 || mode&0o600 != 0o600 {
		t.Errorf("mode: got %o, want 640 less the umask", mode)
	}
}

func TestRotationLosesNoLineAndCutsWhereReopenWasCalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l := mustOpen(t, path)
	l.Write(numbered(0))
	l.Write(numbered(1))
	rename(t, path, path+".1")
	l.Write(numbered(2))
	if err := l.Reopen(); err != nil {
		t.Fatalf("Reopen: %v", err)
	}
	l.Write(numbered(3))
	mustClose(t, l)
	if got, want := targets(t, path+".1"), "/000000 /000001 /000002"; got != want {
		t.Errorf("old file: got %q, want %q", got, want)
	}
	if got, want := targets(t, path), "/000003"; got != want {
		t.Errorf("new file: got %q, want %q", got, want)
	}
	if n := l.Dropped(); n != 0 {
		t.Errorf("Dropped: got %d, want 0", n)
	}
}

func TestRotationUnderLoadLosesNoLine(t *testing.T) {
	const rounds, each = 20, 50
	path := filepath.Join(t.TempDir(), "access.log")
	l := mustOpen(t, path)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range rounds * each {
				l.Write(numbered(w*rounds*each + n))
			}
		})
	}
	for range rounds {
		wg.Go(func() {
			if err := l.Reopen(); err != nil {
				t.Errorf("Reopen: %v", err)
			}
		})
	}
	wg.Wait()
	mustClose(t, l)
	seen := map[string]bool{}
	for s := range strings.FieldsSeq(targets(t, path)) {
		seen[s] = true
	}
	if len(seen) != 2*rounds*each || l.Dropped() != 0 {
		t.Errorf("got %d distinct lines, %d dropped, want %d and 0", len(seen), l.Dropped(), 2*rounds*each)
	}
}

func TestReopenThatFailsKeepsTheOldFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "access.log")
	l := mustOpen(t, path)
	rename(t, dir, dir+".moved")
	if err := l.Reopen(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Reopen: got %v, want it to wrap fs.ErrNotExist", err)
	}
	l.Write(numbered(0))
	mustClose(t, l)
	if got := targets(t, filepath.Join(dir+".moved", "access.log")); got != "/000000" {
		t.Errorf("old file: got %q, want /000000", got)
	}
	if err := os.Rename(dir+".moved", dir); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, lines.ErrClosed) {
		t.Errorf("Reopen after Close: got %v, want ErrClosed", err)
	}
}

func TestReopenOfALogWithoutPathDoesNothing(t *testing.T) {
	var buf bytes.Buffer
	l := mustNew(t, &buf, Options{})
	if err := l.Reopen(); err != nil {
		t.Errorf("Reopen: got %v, want nil", err)
	}
	mustClose(t, l)
}

func TestStdoutIsWrittenToAndLeftOpen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = before }()
	l := mustOpen(t, "-")
	l.Write(numbered(7))
	mustClose(t, l)
	if err := l.Reopen(); err != nil {
		t.Errorf("Reopen: got %v, want nil", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("standard output was closed: %v", err)
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, buf.String()).Target; got != "/000007" {
		t.Errorf("stdout: got target %q, want /000007", got)
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	if _, err := Open("", Options{}); err == nil {
		t.Error("empty path: got no error")
	}
	dir := t.TempDir()
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory: got %v, want an error that names it", err)
	}
	if _, err := Open(filepath.Join(dir, "x"), Options{QueueBytes: -1}); err == nil {
		t.Error("negative queue: got no error")
	}
}
