package main

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// cacheFolder is a folder that is written to as nginx does.
type cacheFolder struct {
	*testing.T
	path string
	temp int
}

func watched(t *testing.T, limit int64, objects ...object) (*writeWatch, *cacheFolder) {
	t.Helper()
	f := &cacheFolder{T: t, path: t.TempDir()}
	w, err := watchWrites(f.path, t.TempDir(), objects, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, f
}

func (f *cacheFolder) file(target string) string {
	return filepath.Join(f.path, fmt.Sprintf("%x", md5.Sum([]byte(target))))
}

func (f *cacheFolder) begin(target string) (temp string) {
	f.Helper()
	f.temp++
	temp = fmt.Sprintf("%s.%010d", f.file(target), f.temp)
	if err := os.WriteFile(temp, []byte("KEY and header and body"), 0o600); err != nil {
		f.Fatal(err)
	}
	return temp
}

func (f *cacheFolder) store(target string) {
	f.Helper()
	if err := os.Rename(f.begin(target), f.file(target)); err != nil {
		f.Fatal(err)
	}
}

func (f *cacheFolder) remove(path string) {
	f.Helper()
	if err := os.Remove(path); err != nil {
		f.Fatal(err)
	}
}

func TestEveryRenamedFileIsOneWriteOfItsObject(t *testing.T) {
	w, f := watched(t, 350, object{"/a", 100}, object{"/b?c=1", 200}, object{"/d", 300})
	want := func(when string, want writeCounts) {
		t.Helper()
		if got, err := w.counts(t.Context()); err != nil || got != want {
			t.Errorf("%s: got %+v, error %v; want %+v", when, got, err, want)
		}
	}
	want("nothing yet", writeCounts{})
	f.store("/a")
	f.store("/b?c=1")
	want("two stored", writeCounts{writes: 2, bytes: 300, most: 300})
	f.store("/a")
	want("one replaced", writeCounts{writes: 3, bytes: 400, most: 300})
	f.remove(f.begin("/d"))
	want("a response cut", writeCounts{writes: 3, bytes: 400, most: 300})
	f.store("/d")
	want("one too many", writeCounts{writes: 4, bytes: 700, most: 600, over: 1})
	f.remove(f.file("/b?c=1"))
	f.remove(f.file("/d"))
	want("two evicted", writeCounts{writes: 4, bytes: 700, most: 600, over: 1, evictions: 2})
	f.store("/d")
	want("one came back", writeCounts{writes: 5, bytes: 1000, most: 600, over: 2, evictions: 2})
}

func TestManyWritesAreAllCounted(t *testing.T) {
	const n = 3000
	var list []object
	for i := range n {
		list = append(list, object{fmt.Sprint("/", i), 1})
	}
	w, f := watched(t, n, list...)
	for i := range list {
		f.store(list[i].target)
	}
	if got, err := w.counts(t.Context()); err != nil || got.writes != n || got.bytes != n || got.over != 0 {
		t.Errorf("got %+v, error %v; want %d writes", got, err, n)
	}
}

func TestWatchThatLostSightIsAnError(t *testing.T) {
	head := func(mask byte) []byte {
		b := make([]byte, eventHead)
		b[5] = mask // the second byte of IN_Q_OVERFLOW, which is 0x4000
		return b
	}
	f := func(want error, b []byte) {
		t.Helper()
		w := &writeWatch{}
		if err := w.events(b); !errors.Is(err, want) {
			t.Errorf("%v: got %v, want %v", b, err, want)
		}
	}
	f(errOverflow, head(0x40))
	f(errEvent, head(0)[:eventHead-1])
	f(errEvent, append(head(0)[:12], 16, 0, 0, 0))

	w, folder := watched(t, 1, object{"/a", 1})
	folder.store("/stranger")
	if _, err := w.counts(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to no object") {
		t.Errorf("a file of no object: got %v", err)
	}
	w, _ = watched(t, 1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.counts(t.Context()); err == nil {
		t.Error("after Close: got counts")
	}
	if _, err := watchWrites(filepath.Join(t.TempDir(), "none"), t.TempDir(), nil, 1); err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

// TestCountThatGaveUpDoesNotAnswerForTheNext: its mark comes late.
func TestCountThatGaveUpDoesNotAnswerForTheNext(t *testing.T) {
	w, f := watched(t, 1000, object{"/a", 100})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		_, _ = w.counts(ctx) // may be answered all the same
	}
	f.store("/a")
	ctx, cancel = context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if got, err := w.counts(ctx); err != nil || got.writes != 1 {
		t.Errorf("got %+v, error %v; want one write", got, err)
	}
}

func TestMemoryFolderHasRoom(t *testing.T) {
	if got := memoryFolder(1 << 60); got != "" {
		t.Errorf("for 1 EiB: got %s, want none", got)
	}
	if got := memoryFolder(1); got != "" && got != sharedMemory {
		t.Errorf("for 1 byte: got %s, want %s or none", got, sharedMemory)
	}
}
