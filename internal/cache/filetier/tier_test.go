package filetier

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/cache"
)

func write(t *testing.T, tier *Tier, pieces ...string) cache.Draft {
	t.Helper()
	d, err := tier.Create(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		if _, err := d.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func finish(t *testing.T, d cache.Draft) cache.File {
	t.Helper()
	f, err := d.Finish(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t *testing.T, folder string) *Tier {
	t.Helper()
	tier, err := Open(folder, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return tier
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What reads a file goes on when it is removed.
func TestContentIsReadAfterItsRemoval(t *testing.T) {
	folder := t.TempDir()
	tier := open(t, folder)
	f := finish(t, write(t, tier, "01234", "56789"))
	if f.Size() != 10 || tier.Files() != 1 || tier.Drafts() != 0 || len(names(t, folder)) != 1 {
		t.Errorf("got %d bytes, %d files, %d drafts, %v", f.Size(), tier.Files(), tier.Drafts(), names(t, folder))
	}
	c := cache.Kept(f)
	f.Remove()
	if left := names(t, folder); len(left) != 0 || tier.Files() != 0 {
		t.Errorf("got %v and %d files, want none", left, tier.Files())
	}
	if got, err := io.ReadAll(c.Section(3, 6)); err != nil || string(got) != "345678" {
		t.Errorf("after its removal: got %q %v", got, err)
	}
}

func TestSameContentIsKnown(t *testing.T) {
	tier := open(t, t.TempDir())
	a, b, c := finish(t, write(t, tier, "ab", "c")), finish(t, write(t, tier, "abc")), finish(t, write(t, tier, "abd"))
	if !a.Same(b) || a.Same(c) {
		t.Errorf("got %v and %v, want true and false", a.Same(b), a.Same(c))
	}
}

// Nothing is left of a draft that is given up, or whose process was killed.
func TestDraftsLeaveNothingBehind(t *testing.T) {
	folder := t.TempDir()
	tier := open(t, folder)
	write(t, tier, "abc").Abort()
	if left := names(t, folder); len(left) != 0 || tier.Drafts() != 0 {
		t.Errorf("after Abort: got %v and %d drafts, want none", left, tier.Drafts())
	}
	write(t, tier, "abc")
	finish(t, write(t, tier, "abc"))
	open(t, folder)
	if left := names(t, folder); len(left) != 1 || !strings.HasPrefix(left[0], filePrefix) {
		t.Errorf("after another start: got %v, want what was complete", left)
	}
	if _, err := Open(filepath.Join(folder, "[", ""), 1); err == nil {
		t.Error("a folder that is none: got no error")
	}
}
