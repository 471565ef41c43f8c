package disk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// damaged are the lengths of what the tests of damage store: some KiB of small records, and a large one.
var damaged = []int{0, 700, 3000, 12_000, 70_000}

// aDirectory returns the path of a directory with two sealed segments, or with two that a kill has left.
func aDirectory(t *testing.T, sealed bool) string {
	t.Helper()
	path := quickDir(t)
	k := &killer{}
	k.left.Store(1 << 40)
	s, err := Open(small(Options{Path: path, MaxBytes: MinBytes, Hook: k.hook}))
	if err != nil {
		t.Fatal(err)
	}
	for n, length := range damaged {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	if !sealed {
		k.left.Store(0)
	}
	s.Close()
	return path
}

// serves opens the directory and fails the test if it gives a wrong byte. It returns how many keys were found.
func serves(t *testing.T, path, what string) (found int) {
	t.Helper()
	s, err := Open(small(Options{Path: path, MaxBytes: MinBytes}))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	filled(t, s)
	for n, length := range damaged {
		if _, body, ok := get(t, s, n); ok {
			found++
			if !bytes.Equal(body, bodyOf(n, 1, length)) {
				t.Fatalf("%s: key %d: wrong bytes", what, n)
			}
		}
	}
	return found
}

// A segment that is cut short or changed anywhere gives no wrong byte, and no panic.
func TestDamageGivesNoWrongByte(t *testing.T) {
	testkit.Slow(t, "20 seconds")
	testkit.Plain(t, "each of a thousand starts takes ten times as long under the race detector, which sees as much in TestDamageInSomePlaces")
	damageAt(t, 512)
}

func TestDamageInSomePlaces(t *testing.T) { damageAt(t, 8192+512) }

// damageAt damages a file at each stride of its bytes, and looks at what a start finds.
func damageAt(t *testing.T, stride int) {
	t.Helper()
	f := func(name string, sealed bool, damage func(whole []byte, at int) []byte) {
		t.Run(name, func(t *testing.T) {
			path := aDirectory(t, sealed)
			files := readFiles(t, path)
			lost, kept := 0, 0
			for name, whole := range files {
				for at := 0; at < len(whole); at += stride {
					for other, b := range files { // the files before, with what an opening has changed
						writeFile(t, path, other, b)
					}
					writeFile(t, path, name, damage(bytes.Clone(whole), at))
					found := serves(t, path, fmt.Sprintf("%s at %d of %d", name, at, len(whole)))
					lost += len(damaged) - found
					kept += found
				}
			}
			if lost == 0 || kept == 0 {
				t.Errorf("%d records lost, %d kept: want some of both", lost, kept)
			}
		})
	}
	flip := func(b []byte, at int) []byte { b[at] ^= 0x10; return b }
	cut := func(b []byte, at int) []byte { return b[:at] }
	zero := func(b []byte, at int) []byte { clear(b[at:min(at+512, len(b))]); return b }
	f("flipped", true, flip)
	f("cut short", true, cut)
	f("flipped, not sealed", false, flip)
	f("cut short, not sealed", false, cut)
	f("a sector of zeros, not sealed", false, zero)
}

// What is damaged while the store runs is a miss, counted, and gone.
func TestDamageWhileItRuns(t *testing.T) {
	path := t.TempDir()
	s := open(t, Options{Path: path, MaxBytes: MinBytes})
	store(t, s, 1, 1, 3000)
	store(t, s, 2, 1, 200_000)
	settle(t, s)
	for name, b := range readFiles(t, path) {
		for _, mark := range [][]byte{bodyOf(1, 1, 3000)[100:120], bodyOf(2, 1, 200_000)[150_000:150_020]} {
			if at := bytes.Index(b, mark); at >= 0 {
				b[at]++
			}
		}
		writeFile(t, path, name, b)
	}
	lacks(t, s, 1)
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(2)), keyOf(2), &h) {
		t.Fatal("a long body that is damaged behind its beginning is not found")
	}
	begin := make([]byte, 1000)
	if _, err := h.ReadAt(begin, 0); err != nil || !bytes.Equal(begin, bodyOf(2, 1, 200_000)[:1000]) {
		t.Errorf("its beginning: %v", err)
	}
	if n, err := h.ReadAt(make([]byte, 200_000), 0); err == nil || n > 150_000 {
		t.Errorf("all of it: got %d bytes, %v, want an error before the damage", n, err)
	}
	if err := h.Check(0, h.Size()); err == nil {
		t.Error("Check finds nothing")
	}
	h.Close()
	lacks(t, s, 2)
	if st := s.Stats(); st.Damaged != 2 || st.Objects != 0 {
		t.Errorf("got %d damaged and %d objects, want 2 and 0", st.Damaged, st.Objects)
	}
}

// A file of another cache directory is not read as ours, and stays.
func TestASegmentOfAnotherDirectoryIsLeftAlone(t *testing.T) {
	theirs, ours := aDirectory(t, true), aDirectory(t, true)
	moved := readFiles(t, theirs)[segmentName(0)]
	for name := range readFiles(t, ours) {
		_ = os.Remove(filepath.Join(ours, name))
	}
	writeFile(t, ours, segmentName(0), moved)
	if found := serves(t, ours, "theirs"); found != 0 {
		t.Errorf("%d records of another directory are found", found)
	}
	if b, err := os.ReadFile(filepath.Join(ours, segmentName(0))); err != nil || !bytes.Equal(b, moved) {
		t.Errorf("their file has changed: %v", err)
	}
}

// readFiles returns the segments of a directory.
func readFiles(t *testing.T, path string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(path, "*"+segmentSuffix))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = b
	}
	return files
}

func writeFile(t *testing.T, path, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}
