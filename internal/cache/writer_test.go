package cache

import (
	"bytes"
	"testing"

	"edgeproxy/internal/cache/disk"
	"edgeproxy/internal/conn/pinned"
)

// tooLongForMemory is the length of a body that usualOptions take only to the disk.
const tooLongForMemory = 300 << 10

func newWriterStore(t *testing.T) (*Store, *disk.Store) {
	t.Helper()
	o := usualOptions()
	o.MaxDiskObjectBytes = 1 << 20
	return newStoreOnDisk(t, o)
}

// However a fill ends, the disk has what is stored and nothing else.
func TestWriterLeavesNothingButWhatIsStored(t *testing.T) {
	body := bytes.Repeat([]byte("x"), tooLongForMemory)
	f := func(name string, write func(w *Writer) Outcome, want Outcome) {
		t.Helper()
		s, d := newWriterStore(t)
		w := s.Write()
		if got := write(&w); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		w.Abort()
		if n := d.Stats().Drafts; n != 0 {
			t.Errorf("%s: got %d drafts, want none", name, n)
		}
		o, _ := s.Load(sum("/a"), []byte("/a"))
		if (o != nil) != (want == Stored) || o != nil && o.Content().Size() != tooLongForMemory {
			t.Errorf("%s: found: %v, want %v", name, o != nil, want == Stored)
		}
		if o != nil {
			s.Release(o)
		}
	}
	never := func() bool { return false }
	pieces := func(w *Writer, length int64) {
		w.Begin(plain("/a", 0, 0), length)
		w.Append(body[:400])
		w.Append(body[400:])
		if !w.Holds(int64(len(body))) || w.Holds(400) {
			t.Errorf("got %d bytes, want all", w.size)
		}
	}
	commit := func(w *Writer, unless func() bool) Outcome {
		o, inMemory := w.Commit(plain("/a", 0, 0), nil, true, unless)
		if inMemory {
			t.Error("the body is in memory, want it on the disk")
		}
		return o
	}
	f("of a known length", func(w *Writer) Outcome { pieces(w, tooLongForMemory); return commit(w, never) }, Stored)
	f("of no known length", func(w *Writer) Outcome { pieces(w, -1); return commit(w, never) }, Stored)
	f("purged", func(w *Writer) Outcome { pieces(w, -1); return commit(w, func() bool { return true }) }, Purged)
	f("panicked", func(w *Writer) (o Outcome) {
		defer func() { _ = recover() }()
		pieces(w, -1)
		return commit(w, func() bool { panic("purges") })
	}, 0)
	f("broken off", func(w *Writer) Outcome { pieces(w, -1); return 0 }, 0)
	f("longer than the disk takes", func(w *Writer) Outcome {
		w.Begin(plain("/a", 0, 0), 2<<20)
		w.Append(body)
		if w.Holds(int64(len(body))) {
			t.Error("a body that is too long was kept")
		}
		return 0
	}, 0)
}

// Content that memory has whole is not copied, whether there is a disk or not: the body that was passed is stored.
func TestWriterKeepsTheBodyItIsGiven(t *testing.T) {
	for _, withDisk := range []bool{false, true} {
		for _, admitted := range []bool{true, false} {
			s := newStoreOf(t, usualOptions())
			if withDisk {
				s, _ = newWriterStore(t)
			}
			w, body := s.Write(), make([]byte, pinned.Least+1)
			if admitted {
				w.Begin(plain("/a", 0, 0), int64(len(body)))
			}
			w.Append(body)
			if w.Holds(int64(len(body))) {
				t.Error("a short body was written to the disk as it came")
			}
			if o, inMemory := w.Commit(plain("/a", 0, 0), body, admitted, nil); o != Stored || !inMemory {
				t.Errorf("disk %v, admitted %v: got %v, in memory %v, want both", withDisk, admitted, o, inMemory)
			}
			if withDisk && admitted {
				continue // the queue of the disk has it
			}
			e, ok := find(s, sum("/a"), []byte("/a"))
			if b, _ := e.Content().Bytes(); !ok || &b[0] != &body[0] {
				t.Errorf("disk %v, admitted %v: the body was copied", withDisk, admitted)
			}
		}
	}
}

// What is larger than memory allows is taken only where a disk takes it and admission has let it in.
func TestObjectsLargerThanMemoryAllows(t *testing.T) {
	s, _ := newWriterStore(t)
	e := plain("/large", 0, 0)
	if !s.Takes(tooLongForMemory, e, true) || s.Takes(tooLongForMemory, e, false) || s.Takes(2<<20, e, true) {
		t.Error("want 300 KiB taken of what is admitted, and neither if held back nor 2 MiB")
	}
	if s = newStoreOf(t, usualOptions()); s.Takes(tooLongForMemory, e, true) {
		t.Error("without a disk 300 KiB are taken")
	}
}
