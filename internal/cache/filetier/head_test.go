package filetier

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/purge"
	"edgeproxy/internal/rfc9111"
)

var firstRun, secondRun = purge.Identity{History: 1, Run: 1, KeySeed: 1}, purge.Identity{History: 1, Run: 2, KeySeed: 1}

func keyOf(name string) cache.Key { return cache.Key{Hi: uint64(len(name)), Lo: uint64(name[1])} }

func entry(name string) *cache.Entry {
	return &cache.Entry{
		Key: keyOf(name), URL: keyOf(name), Name: []byte(name), URLLen: int32(len(name)), Status: 200, Serial: uint64(name[1]), Born: 1,
		ResponseTime: time.Unix(1_800_000_000, 0).UTC(), Policy: rfc9111.Policy{Lifetime: time.Hour},
	}
}

func start(t *testing.T, folder string, id purge.Identity) (*cache.Store, int) {
	t.Helper()
	tier, err := Reopen(folder, 1<<20, id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cache.New(cache.Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4, StageBytes: 1 << 18, Medium: tier})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	n, err := tier.Restore(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, n
}

func put(t *testing.T, s *cache.Store, name, content string, admitted bool) {
	t.Helper()
	w := s.Write()
	defer w.Abort()
	if o, inMemory := w.Commit(entry(name), []byte(content), admitted, nil); o != cache.Stored || inMemory {
		t.Fatalf("%s: got %v, in memory %v", name, o, inMemory)
	}
}

func found(s *cache.Store, name string) *cache.Entry {
	o, _ := s.Find(keyOf(name), []byte(name))
	if o == nil {
		return nil
	}
	return o.Entry()
}

func discard(s *cache.Store, name string) bool {
	o, _ := s.Find(keyOf(name), []byte(name))
	return s.Discard(o)
}

// What is stored when a process ends comes back as it was then; what has left does not, nor does what
// admission has held back.
func TestEntriesComeBack(t *testing.T) {
	folder := t.TempDir()
	s, _ := start(t, folder, firstRun)
	for _, name := range []string{"/kept", "/discarded", "/renewed", "/outdated", "/forgotten", "/large", "/zero"} {
		content := name
		switch name {
		case "/large":
			content = string(bytes.Repeat([]byte("x"), 100<<10))
		case "/zero":
			content = ""
		}
		put(t, s, name, content, true)
	}
	put(t, s, "/staged", "s", false)
	put(t, s, "/promoted", "p", false)
	if !s.Promote(keyOf("/promoted"), []byte("/promoted")) || !discard(s, "/discarded") {
		t.Fatal("not promoted, or not discarded")
	}
	renewed := *found(s, "/renewed")
	renewed.Serial, renewed.Born, renewed.InitialAge = 1000, 2, time.Second
	if !s.Renew(&renewed, uint64('r'), nil) {
		t.Fatal("not renewed")
	}
	s.Revise(keyOf("/outdated"), func(e *cache.Entry) *cache.Entry {
		o := *e
		o.Born, o.Policy.Lifetime = 3, 0
		return &o
	})
	s.Revise(keyOf("/forgotten"), func(*cache.Entry) *cache.Entry { return nil })

	s, n := start(t, folder, secondRun)
	if n != 6 || s.Objects() != 6 {
		t.Errorf("got %d entries back and %d objects, want 6", n, s.Objects())
	}
	for _, name := range []string{"/discarded", "/forgotten", "/staged"} {
		if found(s, name) != nil {
			t.Errorf("%s has come back", name)
		}
	}
	for _, name := range []string{"/kept", "/promoted", "/large", "/zero"} {
		if e := found(s, name); e == nil || e.Serial != uint64(name[1]) || e.Policy.Lifetime != time.Hour {
			t.Errorf("%s: got %+v", name, e)
		}
	}
	if e := found(s, "/renewed"); e == nil || e.Serial != 1000 || e.InitialAge != time.Second {
		t.Errorf("renewed: got %+v", e)
	}
	if e := found(s, "/outdated"); e == nil || e.Born != 3 || e.Policy.Lifetime != 0 {
		t.Errorf("outdated: got %+v", e)
	}
}

// What is not whole, or was stored under an identity that is not known, is removed.
func TestWhatIsNotWholeIsRemoved(t *testing.T) {
	f := func(name, pattern string, id purge.Identity, harm func(path string) error) {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s, _ := start(t, folder, firstRun)
			put(t, s, "/a", "a", true)
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil || len(files) != 1 {
				t.Fatalf("got %v, %v", files, err)
			}
			if err := harm(files[0]); err != nil {
				t.Fatal(err)
			}
			if _, n := start(t, folder, id); n != 0 {
				t.Errorf("got %d entries, want none", n)
			}
			if left := names(t, folder); len(left) != 1 || left[0] != identityName {
				t.Errorf("got %v left, want the identity alone", left)
			}
		})
	}
	nothing := func(string) error { return nil }

	f("content is short", filePrefix+"*", secondRun, func(path string) error { return os.Truncate(path, 0) })
	f("content is lost", filePrefix+"*", secondRun, os.Remove)
	f("the entry is short", headPrefix+"*", secondRun, func(path string) error { return os.Truncate(path, 20) })
	f("the entry is lost", headPrefix+"*", secondRun, os.Remove)
	f("another history", identityName, purge.Identity{History: 2, Run: 2, KeySeed: 1}, nothing)
	f("no identity", identityName, secondRun, os.Remove)
}
