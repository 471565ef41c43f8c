package purge

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A disk that takes nothing keeps no purge from being done, and who asked for it is told. Once the
// disk takes something, all of them are kept.
func TestAPurgeThatCannotBeKeptIsInForce(t *testing.T) {
	dir, aside := t.TempDir(), filepath.Join(t.TempDir(), "purges")
	var said strings.Builder
	table, err := Open(Place{Dir: dir, Log: slog.New(slog.NewTextHandler(&said, nil))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	born, path := table.Now(), filepath.Join(dir, fileName)
	urls := [...]URL{{Scheme: "http", Host: []byte("a"), Target: []byte("/1")}, {Scheme: "http", Host: []byte("a"), Target: []byte("/2")}}
	gone := func(table *Table) {
		t.Helper()
		for _, u := range urls {
			if got := table.Check(born, u, nil); got != Gone {
				t.Errorf("%s: got %v, want %v", u.Target, got, Gone)
			}
		}
	}

	// Neither can be added to the file nor another put in its place.
	if err := errors.Join(table.file.journal.Close(), os.Rename(path, aside), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, u := range urls {
		table.URL(u, false)
		err := table.Keep()
		notKept, ok := errors.AsType[*NotKeptError](err)
		if !ok || !notKept.Purged() {
			t.Errorf("got %v, want a NotKeptError", err)
		}
	}
	gone(table)
	if n := strings.Count(said.String(), "not saved: after a restart"); n != 1 {
		t.Errorf("got %d words in the log about it, want 1: %s", n, &said)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := table.Keep(); err != nil {
		t.Errorf("the disk takes it again: got %v", err)
	}
	if !strings.Contains(said.String(), "saved again") {
		t.Errorf("got the log %s, want a word that it works again", &said)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Place{Dir: dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	gone(again)
}

// What was born after a purge that was not kept must be within reach of the purges of the next run.
func TestGenerationsOfANextRunAreAboveThoseThatWereNotKept(t *testing.T) {
	dir := t.TempDir()
	table, err := Open(Place{Dir: dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := URL{Scheme: "http", Host: []byte("a"), Target: []byte("/")}
	for range 10 {
		table.URL(u, false) // nobody calls Keep
	}
	born := table.Now()
	table.file.release() // a kill releases it too
	again, err := Open(Place{Dir: dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.URL(u, false)
	if got := again.Check(born, u, nil); got != Gone {
		t.Errorf("got %v, want %v", got, Gone)
	}
}
