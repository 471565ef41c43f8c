package cache

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"edgeproxy/internal/pinned"
)

// medium keeps content in byte slices and counts what it has.
type medium struct {
	largest       int64
	full          bool
	drafts, files int
}

type draft struct {
	bytes.Buffer
	m *medium
}

type mediumFile struct {
	file
	m *medium
}

func (m *medium) Largest() int64 { return m.largest }

func (m *medium) Create(int64) (Draft, error) {
	if m.full {
		return nil, errors.New("full")
	}
	m.drafts++
	return &draft{m: m}, nil
}

func (d *draft) Finish(*Entry) (File, error) {
	d.m.drafts--
	d.m.files++
	return &mediumFile{file{Reader: bytes.NewReader(d.Bytes())}, d.m}, nil
}

func (d *draft) Abort() { d.m.drafts-- }

func (f *mediumFile) Remove() { f.m.files-- }

func mediumStore(t *testing.T, m *medium) *Store {
	t.Helper()
	return newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4, StageBytes: 1 << 18, Medium: m})
}

// However a fill ends, the medium has what is stored and nothing else.
func TestWriterLeavesNothingButWhatIsStored(t *testing.T) {
	body := []byte(strings.Repeat("x", 1000))
	f := func(name string, write func(w *Writer) Outcome, want Outcome, files int) {
		t.Helper()
		m := &medium{largest: 64 << 10}
		s := mediumStore(t, m)
		w := s.Write()
		if got := write(&w); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		w.Abort()
		if m.drafts != 0 || m.files != files {
			t.Errorf("%s: got %d drafts and %d files, want none and %d", name, m.drafts, m.files, files)
		}
		if e, ok := find(s, plain("/a", 0, 0).Key, []byte("/a")); ok != (files > 0) || ok && e.Content().Size() != 1000 {
			t.Errorf("%s: found: %v, want %v", name, ok, files > 0)
		}
	}
	never := func() bool { return false }
	commit := func(w *Writer, body []byte, admitted bool, unless func() bool) Outcome {
		o, inMemory := w.Commit(plain("/a", 0, 0), body, admitted, unless)
		if inMemory {
			t.Error("the body is in memory, want it in the medium")
		}
		return o
	}
	pieces := func(w *Writer) {
		w.begin(-1)
		w.Append(body[:400])
		w.Append(body[400:])
	}
	f("as it came", func(w *Writer) Outcome { pieces(w); return commit(w, nil, true, never) }, Stored, 1)
	f("held back", func(w *Writer) Outcome { pieces(w); return commit(w, body, false, never) }, Stored, 1)
	f("given whole", func(w *Writer) Outcome { return commit(w, body, true, never) }, Stored, 1)
	f("admitted on its way", func(w *Writer) Outcome { w.begin(1000); return commit(w, body, true, never) }, Stored, 1)
	f("purged", func(w *Writer) Outcome { pieces(w); return commit(w, body, true, func() bool { return true }) }, Purged, 0)
	f("panicked", func(w *Writer) (o Outcome) {
		defer func() { _ = recover() }()
		pieces(w)
		return commit(w, body, true, func() bool { panic("purges") })
	}, 0, 0)
	f("broken off", func(w *Writer) Outcome { pieces(w); return 0 }, 0, 0)
}

// Where the medium has no place the content stays in memory.
func TestWriterWithoutAPlaceKeepsTheBody(t *testing.T) {
	for _, m := range []Medium{nil, &medium{largest: 1 << 20, full: true}, &medium{largest: 10}} {
		s := newStoreOf(t, Options{MaxBytes: 1 << 20, MaxObjectBytes: 64 << 10, MaxVariants: 4, Medium: m})
		w, body := s.Write(), make([]byte, pinned.Least+1)
		w.begin(int64(len(body)))
		w.Append(body)
		if w.Holds(int64(len(body))) {
			t.Errorf("%T: it has a place", m)
		}
		if o, inMemory := w.Commit(plain("/a", 0, 0), body, true, nil); o != Stored || !inMemory {
			t.Errorf("%T: got %v, in memory %v, want both", m, o, inMemory)
		}
		e, ok := find(s, plain("/a", 0, 0).Key, []byte("/a"))
		if b, _ := e.Content().Bytes(); !ok || &b[0] != &body[0] {
			t.Errorf("%T: the body was copied", m)
		}
	}
}

// What is larger than memory allows is stored where a medium takes it, and counts with its head.
func TestObjectsLargerThanMemoryAllows(t *testing.T) {
	m := &medium{largest: 8 << 20}
	s := mediumStore(t, m)
	e := plain("/large", 0, 0)
	if !s.Takes(4<<20, e, true) || !s.Takes(4<<20, e, false) || s.Takes(9<<20, e, true) {
		t.Fatal("want 4 MiB taken and 9 MiB not")
	}
	w := s.Write()
	w.begin(-1)
	piece := make([]byte, 1<<20)
	for range 4 {
		w.Append(piece)
	}
	if o, _ := w.Commit(e, nil, true, nil); o != Stored {
		t.Fatalf("got %v, want stored", o)
	}
	got, ok := find(s, e.Key, e.Name)
	e.Content = Content{}
	if !ok || got.Content().Size() != 4<<20 || s.Stats().Objects != 1 || s.Bytes() != e.Cost() || s.Stats().WriteBytes != 4<<20 {
		t.Errorf("got %v, %+v, want 4 MiB written that count with a head of %d", ok, s.Stats(), e.Cost())
	}
	s.Purge(e.URL, e.Name)
	if m.files != 0 || s.Bytes() != 0 {
		t.Errorf("after a purge: got %d files and %d bytes, want none", m.files, s.Bytes())
	}
	w.begin(-1)
	for range 9 {
		w.Append(piece)
	}
	if w.Holds(9<<20) || m.drafts != 0 {
		t.Error("more than the medium takes was kept")
	}
}
