package cache

import (
	"bytes"
	"io"
	"testing"
)

// file is content that lies in no memory, and counts how often it was removed.
type file struct {
	*bytes.Reader
	removed int
}

func (f *file) Same(other File) bool { return f == other }
func (f *file) Remove()              { f.removed++ }
func (f *file) Update(*Entry)        {}

func TestContentIsReadByOffsetWhereverItLies(t *testing.T) {
	text := []byte("0123456789")
	for name, c := range map[string]Content{"memory": InMemory(text), "kept": Kept(&file{Reader: bytes.NewReader(text)})} {
		if b, ok := c.Bytes(); ok != (name == "memory") || ok && &b[0] != &text[0] {
			t.Errorf("%s: Bytes gives %q, %v", name, b, ok)
		}
		if got, err := io.ReadAll(c.Section(3, 4)); err != nil || string(got) != "3456" || c.Size() != 10 {
			t.Errorf("%s: bytes 3 to 6 of %d: got %q %v", name, c.Size(), got, err)
		}
		if n, err := c.ReadAt(make([]byte, 4), 8); n != 2 || err != io.EOF { //nolint:errorlint // io.ReaderAt says so
			t.Errorf("%s: 4 bytes from 8 on: got %d %v, want 2 and the end", name, n, err)
		}
		if n, err := c.ReadAt(make([]byte, 4), 11); n != 0 || err != io.EOF { //nolint:errorlint // the same
			t.Errorf("%s: bytes behind the end: got %d %v, want the end", name, n, err)
		}
	}
	if c := (Content{}); c.Size() != 0 {
		t.Errorf("the zero Content: got %d bytes", c.Size())
	}
}

// A file is removed once, when no entry has it any more: not by a renewal, a promotion or the
// departure of one of several variants that share it.
func TestFilesAreRemovedWithTheirLastEntry(t *testing.T) {
	s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4, StageBytes: 1 << 18})
	f := &file{Reader: bytes.NewReader(make([]byte, 1000))}
	check := func(after string, want int) {
		t.Helper()
		if f.removed != want {
			t.Errorf("after %s: removed %d times, want %d", after, f.removed, want)
		}
	}
	e := plain("/a", 0, 0)
	e.Content = Kept(f)
	s.PutStage(e, nil)
	s.Promote(e.Key, e.Name)
	check("a promotion", 0)
	renewed := *e
	renewed.Serial = 7
	if !s.Renew(&renewed, e.Serial, nil) {
		t.Fatal("not renewed")
	}
	check("a renewal", 0)
	s.Purge(e.URL, e.Name)
	check("a purge", 1)

	f = &file{Reader: bytes.NewReader(make([]byte, 1000))}
	twin := &file{Reader: f.Reader}
	one, two := variant("/b", "gzip", 0, "Accept-Encoding"), variant("/b", "br", 0, "Accept-Encoding")
	one.Header.Add("Etag", `"1"`)
	two.Header, one.Content, two.Content = one.Header, Kept(sameAs{f, twin}), Kept(twin)
	s.Put(one, nil)
	if got := s.Put(two, nil); got != Joined || twin.removed != 1 {
		t.Fatalf("a second variant: got %v, its own file removed %d times, want joined and once", got, twin.removed)
	}
	if held, ok := find(s, one.Key, one.Name); !ok || !s.Discard(held) {
		t.Fatal("the first is not there to be discarded")
	}
	check("the departure of one of two", 0)
	s.Purge(two.URL, two.urlName())
	check("the departure of both", 1)
}

// sameAs is a file that has the bytes of another.
type sameAs struct {
	*file
	other File
}

func (s sameAs) Same(other File) bool { return other == s.other }
