package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"edgeproxy/internal/cache/disk/layout"
)

// patchOf returns bytes that tell key and version of the patch.
func patchOf(n, version int) (p Patch) {
	copy(p[:], fmt.Sprintf("patch %d of %d", version, n))
	return p
}

// serialOf returns the serial of key n, and what is noted of it.
func serialOf(t *testing.T, s *Store, n int) (uint64, Patch, bool) {
	t.Helper()
	var h Hit
	defer h.Close()
	if !s.Find(hashOf(keyOf(n)), keyOf(n), &h) {
		t.Fatalf("key %d: not found", n)
	}
	return h.Serial, h.Patch, h.Patched
}

func note(t *testing.T, s *Store, n, version int) {
	t.Helper()
	serial, _, _ := serialOf(t, s, n)
	if err := s.Patch(hashOf(keyOf(n)), keyOf(n), serial, patchOf(n, version)); err != nil {
		t.Fatalf("key %d: %v", n, err)
	}
}

// noted fails the test if something else than this version is noted of key n; 0 is nothing.
func noted(t *testing.T, s *Store, n, version int) {
	t.Helper()
	if _, p, ok := serialOf(t, s, n); ok != (version > 0) || ok && p != patchOf(n, version) {
		t.Errorf("key %d: got %q, %v, want version %d", n, p[:], ok, version)
	}
}

func TestAPatchIsShownUntilAnotherComes(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for n, length := range lengths {
		store(t, s, n, 1, length)
	}
	settle(t, s)
	for n := range lengths {
		noted(t, s, n, 0)
		note(t, s, n, 1)
		noted(t, s, n, 1)
		if n%2 == 0 {
			note(t, s, n, 2)
			noted(t, s, n, 2)
		}
	}
	if st := s.Stats(); st.Patches != int64(len(lengths)) {
		t.Errorf("got %d patches, want %d", st.Patches, len(lengths))
	}
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	for n := range lengths {
		noted(t, s, n, 2-n%2)
	}
	seen := 0
	if err := s.Each(func(i *Item) bool {
		if i.Patched {
			seen++
		}
		return true
	}); err != nil || seen != len(lengths) {
		t.Errorf("each: got %d patched, %v", seen, err)
	}
}

// A patch is one of a record, not of its key: what takes its place has none.
func TestAPatchIsOfOneRecord(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for n := range 3 {
		store(t, s, n, 1, 1000)
	}
	if serial, _, _ := serialOf(t, s, 0); serial != 0 {
		t.Errorf("one that waits has serial %d", serial)
	}
	settle(t, s)
	note(t, s, 1, 1)
	old, _, _ := serialOf(t, s, 1)
	store(t, s, 1, 2, 1000)
	settle(t, s)
	noted(t, s, 1, 0)
	f := func(what string, n int, serial uint64) {
		t.Helper()
		if err := s.Patch(hashOf(keyOf(n)), keyOf(n), serial, patchOf(n, 9)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", what, err)
		}
	}
	f("the old record", 1, old)
	f("no record", 99, 1)
	f("one that waits", 2, 0)
	if err := s.Patch(hashOf(keyOf(2)), keyOf(3), old+1, Patch{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("another key: got %v, want ErrNotFound", err)
	}
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	noted(t, s, 1, 0)
	noted(t, s, 2, 0)
}

// What Keep has promised lasts over a kill. A kill within the log leaves what is before.
func TestAPatchLastsOverAKill(t *testing.T) {
	k := &killer{}
	k.left.Store(1 << 40)
	path := quickDir(t)
	s := open(t, Options{Path: path, Hook: k.hook})
	store(t, s, 1, 1, 1000)
	settle(t, s)
	note(t, s, 1, 1)
	note(t, s, 1, 2)
	log, last := filepath.Join(path, removalsName), filepath.Join(path, lastRemovals)
	before, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	note(t, s, 1, 3)
	k.left.Store(0)
	s.Close()
	whole, err := os.ReadFile(log)
	if err != nil || len(whole) != layout.LogStartBytes+2*layout.PatchedBytes {
		t.Fatalf("got a log of %d bytes, %v", len(whole), err)
	}
	leave := func(b []byte) { // leaves the log in the state before Keep noted how far it is synced
		if err := errors.Join(os.WriteFile(log, b, 0o600), os.WriteFile(last, before, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for end := len(whole); end > layout.LogStartBytes+layout.PatchedBytes-2; end-- {
		leave(whole[:end])
		s := open(t, Options{Path: path})
		filled(t, s)
		noted(t, s, 1, (end-layout.LogStartBytes)/layout.PatchedBytes)
		s.Close()
	}
	for at := range layout.PatchedBytes {
		bad := slices.Clone(whole)
		bad[layout.LogStartBytes+at]++
		leave(bad)
		s := open(t, Options{Path: path})
		filled(t, s)
		noted(t, s, 1, 2)
		s.Close()
	}
}

// A record that is written anew has in its block what was noted of it.
func TestAPatchIsFoldedInWhenItsRecordMoves(t *testing.T) {
	for _, folds := range []bool{true, false} {
		o := Options{Path: quickDir(t), MaxBytes: MinBytes, MeanObjectBytes: 500}
		if folds {
			o.Fold = func(block []byte, p Patch) []byte {
				return append(bytes.Clone(block), bytes.TrimRight(p[:], "\x00")...)
			}
		}
		s := open(t, o)
		const hot = 50
		for n := range hot {
			store(t, s, n, 1, 1000)
		}
		settle(t, s)
		for n := range hot {
			if n%2 == 0 {
				note(t, s, n, 1)
			}
		}
		for n := 1000; s.Stats().Rewrites < hot; n++ {
			store(t, s, n, 1, 1000)
			if n%100 == 0 {
				settle(t, s)
				for n := range hot {
					s.Touch(hashOf(keyOf(n)))
				}
			}
		}
		settle(t, s) // the last one is counted before the old place of any is left
		for n := range hot {
			noted(t, s, n, 0)
			want := string(blockOf(n, 1))
			if p := patchOf(n, 1); folds && n%2 == 0 {
				want += string(bytes.TrimRight(p[:], "\x00"))
			}
			if block, body, ok := get(t, s, n); !ok || block != want || !bytes.Equal(body, bodyOf(n, 1, 1000)) {
				t.Errorf("key %d: got %q, %v, want %q", n, block, ok, want)
			}
		}
		if st := s.Stats(); st.Patches != 0 || st.Damaged != 0 {
			t.Errorf("got %+v", st)
		}
	}
}

func TestPatchesAreBounded(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	s := open(t, Options{Path: quickDir(t), MeanObjectBytes: 4 << 10, every: soon, Now: func() time.Time { return time.Unix(0, now.Load()) }})
	const bound = 1024
	for n := range bound + 1 {
		store(t, s, n, 1, 100)
	}
	settle(t, s)
	for n := range bound {
		note(t, s, n, 1)
	}
	more := func() error {
		serial, _, _ := serialOf(t, s, bound)
		return s.Patch(hashOf(keyOf(bound)), keyOf(bound), serial, patchOf(bound, 1))
	}
	if err := more(); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: got %v, want ErrBusy", err)
	}
	note(t, s, 5, 2) // it has one
	for n := range 10 {
		s.Remove(hashOf(keyOf(n)))
	}
	until(t, "room", func() bool {
		now.Add(int64(10 * time.Second))
		return s.Stats().Patches == bound-10
	})
	if err := more(); err != nil {
		t.Error(err)
	}
	noted(t, s, bound, 1)
	noted(t, s, 10, 1)
}

// The log does not grow with how often something is noted.
func TestTheLogIsShortenedOfPatches(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path, every: soon})
	store(t, s, 1, 1, 100)
	store(t, s, 2, 1, 100)
	settle(t, s)
	serial, _, _ := serialOf(t, s, 1)
	version := 0
	size := func() int64 {
		info, err := os.Stat(filepath.Join(path, removalsName))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for most := int64(0); most < shortenAt; most = max(most, size()) {
		for range 1000 {
			version++
			if err := s.Patch(hashOf(keyOf(1)), keyOf(1), serial, patchOf(1, version)); err != nil {
				t.Fatal(err)
			}
		}
	}
	note(t, s, 2, 1)
	until(t, "a short log", func() bool { return size() < shortenAt/10 })
	noted(t, s, 1, version)
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	noted(t, s, 1, version)
	noted(t, s, 2, 1)
}

func TestADirectoryKeepsItsPatches(t *testing.T) {
	path := quickDir(t)
	s := open(t, Options{Path: path})
	for n := range 3 {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	note(t, s, 0, 1)
	note(t, s, 1, 1)
	s.Close()
	d, err := OpenDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	d.Each(func(r *Record) bool {
		if n := slices.IndexFunc([]int{0, 1, 2}, func(n int) bool { return string(r.Key) == string(keyOf(n)) }); r.Patched != (n < 2) || r.Patched && r.Patch != patchOf(n, 1) {
			t.Errorf("%s: got %q, %v", r.Key, r.Patch[:], r.Patched)
		}
		if string(r.Key) == string(keyOf(0)) {
			d.Drop(r)
		}
		return true
	})
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	d.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	lacks(t, s, 0)
	noted(t, s, 1, 1)
	noted(t, s, 2, 0)
}
