package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/cache/disk/layout"
	"edgeproxy/internal/cache/statefile"
)

// stored fills a new directory with records, numbered from 0, of these lengths, and returns its path.
func stored(t *testing.T, lengths ...int) string {
	t.Helper()
	path := t.TempDir()
	s := open(t, Options{Path: path})
	for i, n := range lengths {
		if err := s.Put(hashOf(keyOf(i)), keyOf(i), blockOf(i, 1), bodyOf(i, 1, n)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	return path
}

func openDirectory(t *testing.T, path string) *Directory {
	t.Helper()
	d, err := OpenDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// keysIn returns which keys the directory shows, and how many records it finds damaged.
func keysIn(t *testing.T, d *Directory) (keys map[string]int64, damaged []string) {
	t.Helper()
	keys = map[string]int64{}
	d.Each(func(r *Record) bool {
		if err := r.Check(); err != nil {
			damaged = append(damaged, r.File)
			return true
		}
		if !bytes.HasPrefix(r.Block, []byte("block ")) || r.Offset < layout.Page {
			t.Errorf("%q: got block %q at %d", r.Key, r.Block, r.Offset)
		}
		keys[string(r.Key)] = r.BodyBytes
		return true
	})
	return keys, damaged
}

func TestADirectoryShowsWhatItsStoreHas(t *testing.T) {
	lengths := []int{0, 100, 5000, 40_000, 300_000, 3 << 20}
	path := stored(t, lengths...)
	d := openDirectory(t, path)
	keys, damaged := keysIn(t, d)
	if len(keys) != len(lengths) || damaged != nil {
		t.Errorf("got %v and damaged %v, want %d records", keys, damaged, len(lengths))
	}
	for i, n := range lengths {
		if got, ok := keys[string(keyOf(i))]; !ok || got != int64(n) {
			t.Errorf("%q: got %d (%v), want %d bytes", keyOf(i), got, ok, n)
		}
	}
	if s := d.Stats(); s.Segments < 2 || s.Bytes < 3<<20 || s.SegmentBytes < layout.MinSegment {
		t.Errorf("got %+v", s)
	}
}

func TestADirectoryInUseIsNotOpened(t *testing.T) {
	path := t.TempDir()
	o := small(Options{Path: path})
	open(t, o)
	if _, err := OpenDirectory(path); !errors.Is(err, statefile.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if err := Usable(o); err != nil {
		t.Errorf("usable: got %v, want none while it is in use", err)
	}
}

func TestADirectoryOfOthersIsNotOpened(t *testing.T) {
	f := func(name string, want error, prepare func(path string)) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "cache")
		prepare(path)
		if _, err := OpenDirectory(path); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	f("nothing there", fs.ErrNotExist, func(string) {})
	f("a directory with a file of others", ErrForeign, func(path string) {
		_ = os.Mkdir(path, 0o700)
		_ = os.WriteFile(filepath.Join(path, "thesis.txt"), nil, 0o600)
	})
}

func TestAnEmptyDirectoryWasCalledNotEmpty(t *testing.T) {
	if _, err := OpenDirectory(t.TempDir()); !errors.Is(err, ErrEmpty) {
		t.Errorf("got %v, want ErrEmpty", err)
	}
}

func TestUsableSaysWhatOpenRefuses(t *testing.T) {
	f := func(name string, maxBytes int64, prepare func(path string)) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "cache")
		prepare(path)
		o := Options{Path: path, MaxBytes: maxBytes}
		usable := Usable(o)
		s, err := Open(o)
		if err == nil {
			s.Close()
		}
		if (usable == nil) != (err == nil) {
			t.Errorf("%s: usable says %v, open %v", name, usable, err)
		}
		for _, e := range []error{ErrForeign, ErrTooSmall, ErrOptions} {
			if errors.Is(usable, e) != errors.Is(err, e) {
				t.Errorf("%s: usable says %v, open %v", name, usable, err)
			}
		}
	}
	mkdir := func(path string) { _ = os.Mkdir(path, 0o700) }
	f("nothing there", MinBytes, func(string) {})
	f("an empty directory", MinBytes, mkdir)
	f("too small", MinBytes-1, mkdir)
	f("somebody's files", MinBytes, func(path string) {
		mkdir(path)
		_ = os.WriteFile(filepath.Join(path, "letter.txt"), []byte("dear"), 0o600)
	})
	f("a file", MinBytes, func(path string) { _ = os.WriteFile(path, nil, 0o600) })
	f("too small for its segments", MinBytes, func(path string) {
		s, err := Open(Options{Path: path, MaxBytes: 8 << 30})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	})
	f("a header that is none", MinBytes, func(path string) {
		mkdir(path)
		_ = os.WriteFile(filepath.Join(path, headerName), []byte("dear"), 0o600)
	})
}

func TestWhatIsDroppedFromADirectoryIsGone(t *testing.T) {
	path := stored(t, 100, 200, 40_000, 50_000)
	d := openDirectory(t, path)
	d.Each(func(r *Record) bool {
		if k := string(r.Key); k == string(keyOf(1)) || k == string(keyOf(2)) {
			d.Drop(r)
		}
		return true
	})
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	d.Close()
	keys, _ := keysIn(t, openDirectoryOnce(t, path))
	s := open(t, Options{Path: path})
	if err := s.Each(func(*Item) bool { return true }); err != nil { // it waits for the index
		t.Fatal(err)
	}
	for i := range 4 {
		want := i == 0 || i == 3
		var hit Hit
		if got := s.Find(hashOf(keyOf(i)), keyOf(i), &hit); got != want {
			t.Errorf("%q: got found %v, want %v", keyOf(i), got, want)
		}
		hit.Close()
		if _, got := keys[string(keyOf(i))]; got != want {
			t.Errorf("%q: got shown %v, want %v", keyOf(i), got, want)
		}
	}
}

// openDirectoryOnce shows a directory as it is now: the Directory is closed before the caller goes on.
func openDirectoryOnce(t *testing.T, path string) *Directory {
	t.Helper()
	d, err := OpenDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	d.release() // a Store may have it beside
	d.release = func() {}
	t.Cleanup(d.Close)
	return d
}

func TestAClearedDirectoryIsEmptyAndUsable(t *testing.T) {
	path := stored(t, 100, 40_000)
	d := openDirectory(t, path)
	if err := d.Clear(); err != nil {
		t.Fatal(err)
	}
	if keys, damaged := keysIn(t, d); len(keys)+len(damaged) > 0 {
		t.Errorf("got %v, %v, want nothing", keys, damaged)
	}
	d.Close()
	s := open(t, Options{Path: path})
	var hit Hit
	if s.Find(hashOf(keyOf(0)), keyOf(0), &hit) {
		t.Error("a record is still there")
	}
}

func TestADirectoryTellsDamageByFileAndOffset(t *testing.T) {
	path := stored(t, 100, 5000, 300_000)
	d := openDirectoryOnce(t, path)
	type spot struct {
		file       string
		offset, at int64
	}
	var spots []spot
	d.Each(func(r *Record) bool {
		spots = append(spots, spot{r.File, r.Offset, r.Offset + r.head.BodyAt + r.BodyBytes - 1})
		return true
	})
	if len(spots) != 3 {
		t.Fatalf("got %d records, want 3", len(spots))
	}
	for _, s := range spots {
		for what, at := range map[string]int64{"its last byte": s.at, "its head": s.offset + 20} {
			flip(t, filepath.Join(path, s.file), at)
			var got []spot
			d.Each(func(r *Record) bool {
				if r.Check() != nil {
					got = append(got, spot{r.File, r.Offset, s.at})
				}
				return true
			})
			if len(got) != 1 || got[0] != s {
				t.Errorf("%s of %+v: got %+v", what, s, got)
			}
			flip(t, filepath.Join(path, s.file), at)
		}
	}
}

// flip changes one byte of a file, and changes it back when it is called again.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// What a killed process leaves has a segment without a footer.
func TestADirectoryShowsWhatAKilledStoreHadWritten(t *testing.T) {
	path := t.TempDir()
	s := open(t, Options{Path: path})
	for i := range 20 {
		if err := s.Put(hashOf(keyOf(i)), keyOf(i), blockOf(i, 1), bodyOf(i, 1, 1000*i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	left := t.TempDir()
	if err := os.CopyFS(filepath.Join(left, "cache"), os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	keys, damaged := keysIn(t, openDirectory(t, filepath.Join(left, "cache")))
	if len(keys) != 20 || damaged != nil {
		t.Errorf("got %d records, damaged %v, want 20", len(keys), damaged)
	}
}
