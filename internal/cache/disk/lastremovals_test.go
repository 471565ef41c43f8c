package disk

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/cache/disk/layout"
)

// lostKeys is how many records the tests of this file store. Every second one is removed.
const lostKeys = 12

// removedHalf returns a directory in which every second record was removed, as a kill leaves it.
func removedHalf(t *testing.T) (path string) {
	t.Helper()
	path = quickDir(t)
	k := &killer{}
	k.left.Store(1 << 40)
	s := open(t, Options{Path: path, Hook: k.hook})
	for n := range lostKeys {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	for n := 0; n < lostKeys; n += 2 {
		s.Remove(hashOf(keyOf(n)))
		if err := s.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	k.left.Store(0)
	s.Close()
	return path
}

// A log of removals that was cut between two of them, or whose last pages were zeros, passed for one that is whole, and the records were back.
func TestALogOfRemovalsCutInItsMiddleBroughtBackRecords(t *testing.T) {
	from := removedHalf(t)
	const whole = layout.LogStartBytes + lostKeys/2*layout.RemovedBytes
	if info, err := os.Stat(filepath.Join(from, removalsName)); err != nil || info.Size() != whole {
		t.Fatalf("got a log of %v, %v, want %d bytes", info, err, whole)
	}
	f := func(what string, harm func(path string) error, drops bool) {
		t.Helper()
		path := quickDir(t)
		if err := errors.Join(os.CopyFS(path, os.DirFS(from)), harm(filepath.Join(path, removalsName))); err != nil {
			t.Fatal(err)
		}
		for start := range 2 {
			var said bytes.Buffer
			s := open(t, Options{Path: path, Log: slog.New(slog.NewTextHandler(&said, nil))})
			filled(t, s)
			for n := range lostKeys {
				switch {
				case n%2 == 0 || drops && start == 0:
					lacks(t, s, n)
				default:
					holds(t, s, n, 1, 1000)
				}
			}
			if told := strings.Contains(said.String(), "ends before the last removal"); told != (drops && start == 0) {
				t.Errorf("%s, start %d: got the log %q", what, start, said.String())
			}
			for n := 1; n < lostKeys; n += 2 { // what is stored from now on stays
				store(t, s, n, 1, 1000)
			}
			settle(t, s)
			s.Close()
		}
	}
	zeros := func(from int64) func(path string) error {
		return func(path string) error {
			b, err := os.ReadFile(path)
			clear(b[from:])
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		}
	}
	cut := func(at int64) func(path string) error {
		return func(path string) error { return os.Truncate(path, at) }
	}
	number := func(harm func(path string) error) func(path string) error {
		return func(path string) error { return harm(filepath.Join(filepath.Dir(path), lastRemovals)) }
	}

	f("not cut", func(string) error { return nil }, false)
	f("cut before the last removal", cut(whole-layout.RemovedBytes), true)
	f("cut in a removal", cut(whole-3*layout.RemovedBytes-5), true)
	f("cut behind its start", cut(layout.LogStartBytes), true)
	f("cut in its start", cut(layout.LogStartBytes-1), true)
	f("empty", cut(0), true)
	f("lost", os.Remove, true)
	f("zeros at its end", zeros(whole-layout.RemovedBytes), true)
	f("zeros from the middle of a removal on", zeros(whole-3*layout.RemovedBytes-5), true)
	f("all zeros", zeros(0), true)
	f("the note lost", number(os.Remove), true)
	f("the note empty", number(cut(0)), true)
}

// What was written to the log and not synced may be lost: nobody was told that it lasts.
func TestTheEndOfTheLogThatWasNotSyncedDropsNothing(t *testing.T) {
	path := quickDir(t)
	k := &killer{}
	k.left.Store(1 << 40)
	s := open(t, Options{Path: path, Hook: k.hook})
	for n := range lostKeys {
		store(t, s, n, 1, 1000)
	}
	settle(t, s)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(path, removalsName)
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	s.Remove(hashOf(keyOf(0)))
	asked(t, s, func(v *volume) {
		v.writer.takeDead()
		if err := v.writer.logRemovals(); err != nil || !v.writer.log.dirty {
			t.Errorf("logged: %v", err)
		}
	})
	k.left.Store(0)
	s.Close()
	if err := os.Truncate(log, info.Size()); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Path: path})
	filled(t, s)
	for n := 1; n < lostKeys; n++ {
		holds(t, s, n, 1, 1000)
	}
}

// The log is written anew now and then, and noted later: a kill between the two leaves a log that is newer than the note.
func TestALogThatWasWrittenAnewIsNewerThanItsNote(t *testing.T) {
	path := removedHalf(t)
	k := &killer{}
	k.left.Store(1 << 40)
	s := open(t, Options{Path: path, Hook: k.hook}) // which writes the log anew
	asked(t, s, func(v *volume) {
		if v.writer.noted[0] == uint64(v.writer.number) {
			t.Error("the new log is noted already: nothing says anything of this test")
		}
		k.left.Store(0)
	})
	s.Close()
	s = open(t, Options{Path: path})
	filled(t, s)
	for n := range lostKeys {
		if n%2 == 0 {
			lacks(t, s, n)
		} else {
			holds(t, s, n, 1, 1000)
		}
	}
	s.Close()
	info, err := os.Stat(filepath.Join(path, removalsName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(path, removalsName), info.Size()-layout.RemovedBytes); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Path: path})
	filled(t, s)
	for n := range lostKeys {
		lacks(t, s, n) // a cut is seen there, too
	}
}

// A log of before there were notes is read as it is.
func TestALogOfAnOlderProgramIsRead(t *testing.T) {
	path := removedHalf(t)
	log := filepath.Join(path, removalsName)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(log, b[layout.LogStartBytes:], 0o600), os.Remove(filepath.Join(path, lastRemovals))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := open(t, Options{Path: path})
		filled(t, s)
		for n := range lostKeys {
			if n%2 == 0 {
				lacks(t, s, n)
			} else {
				holds(t, s, n, 1, 1000)
			}
		}
		s.Close()
	}
}

// To remove records from a directory whose log has lost some would make it look whole.
func TestADirectoryThatHasLostRemovalsIsNotInspected(t *testing.T) {
	path := removedHalf(t)
	if err := os.Truncate(filepath.Join(path, removalsName), layout.LogStartBytes); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDirectory(path)
	if !errors.Is(err, layout.ErrDamaged) || !strings.Contains(err.Error(), removalsName) {
		t.Errorf("got %v, %v, want an error that names the log", d, err)
	}
}
