package flight

import (
	"errors"
	"io"
	"net/netip"
	"testing"
)

// hooked is a spool file that lets a test act while it is read or written.
type hooked struct {
	memory
	reads, writes func()
}

func (h *hooked) ReadAt(p []byte, off int64) (int, error) {
	if f := h.reads; f != nil {
		h.reads = nil
		f()
	}
	return h.memory.ReadAt(p, off)
}

func (h *hooked) WriteAt(p []byte, off int64) (int, error) {
	if f := h.writes; f != nil {
		h.writes = nil
		f()
	}
	return h.memory.WriteAt(p, off)
}

// TestAReaderOfTheDiskGotWhatWasWrittenOverIt: while one read there, the others gave memory
// back, so that the file had a gap and was begun anew.
func TestAReaderOfTheDiskGotWhatWasWrittenOverIt(t *testing.T) {
	const size = 512 << 10
	file, want := &hooked{memory: memory{room: 1 << 30}}, randomBody(size)
	b := &body{}
	b.begin(bodyOptions{
		budget: NewBudget(testBudget, 1), ahead: windowBytes,
		spool: func() (SpoolFile, error) { return file, nil },
	}, netip.Prefix{}, testLimit)
	slow, fast := &cursor{}, &cursor{}
	b.enter(slow)
	b.enter(fast)
	for rest := want; len(rest) > 0; { // the fast one keeps up, and all of it is kept
		room, needs, _ := b.space(-1)
		if needs != needNothing {
			t.Fatalf("at %d: the writer needs %d", b.length(), needs)
		}
		n := copy(room, rest)
		rest = rest[n:]
		b.commit(n, false)
		if _, err := b.next(fast, maxRead); err != nil {
			t.Fatal(err)
		}
	}
	b.window(false)
	b.spillOldest()
	b.spillOldest()
	got, err := b.next(slow, 100)
	if err != nil || string(got) != string(want[:len(got)]) {
		t.Fatalf("from the disk: got %d bytes, %v", len(got), err)
	}
	file.writes = func() { b.window(true) } // somebody else needs memory
	b.spillOldest()
	file.reads = b.spillOldest
	if got, err := b.next(slow, 100); !errors.Is(err, ErrBehind) {
		t.Errorf("got %q, %v; want to be behind: the file has something else by now", got, err)
	}
	for range 2 {
		if _, err := b.next(slow, 100); !errors.Is(err, ErrBehind) {
			t.Errorf("got %v, want to stay behind", err)
		}
	}
	b.leave(slow).close()
	b.leave(fast).close()
	b.end(nil)
	if used := b.budget.Used(); used != 0 || !file.closed {
		t.Errorf("%d bytes left, file closed %v", used, file.closed)
	}
}

// TestAPieceOfAMebibyteWasInNoBudget: what a client is being sent is its own until it has taken
// it, but the body lets go of it as soon as it was handed out. So pieces are small.
func TestAPieceOfAMebibyteWasInNoBudget(t *testing.T) {
	for _, admit := range []bool{true, false} {
		table := NewTable[int, string](Options{Budget: NewBudget(64<<20, 1), ObjectBytes: 16 << 20, Ahead: 1 << 20})
		r, _ := table.Join(1, 1, Admission{Leading: admit})
		table.Go(r, func(f *Flight[int, string]) {
			f.Publish("", Response{Storable: true, Shareable: true, Length: -1})
			send(f, randomBody(4<<20), 1<<20, false)
			f.Finish(nil) // it breaks no law that it is not stored
		}, nil)
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || cap(p) > windowBytes {
				t.Fatalf("admitted %v: got a piece of %d bytes, %v; want at most %d", admit, cap(p), err, windowBytes)
			}
		}
		_ = r.Close()
		table.Close()
	}
}

// TestADiskThatCannotBeReadLeavesItsReaderBehind, and never gives it other bytes.
func TestADiskThatCannotBeReadLeavesItsReaderBehind(t *testing.T) {
	file := &hooked{memory: memory{room: 1 << 30}}
	table := NewTable[int, string](Options{
		Budget: NewBudget(testBudget, 1), ObjectBytes: testLimit, Ahead: windowBytes,
		Spool: func() (SpoolFile, error) { return file, nil },
	})
	s, want := table.Stream(netip.Prefix{}), randomBody(testLimit)
	for rest := want; len(rest) > 0; {
		n := copy(s.Space(), rest)
		rest = rest[n:]
		s.Commit(n)
	}
	s.End(nil)
	if p, err := s.Next(); err != nil || string(p) != string(want[:len(p)]) {
		t.Fatalf("got %d bytes, %v", len(p), err)
	}
	file.reads = func() { file.b = file.b[:100] }
	if p, err := s.Next(); !errors.Is(err, ErrBehind) {
		t.Errorf("got %d bytes, %v; want to be behind", len(p), err)
	}
	s.Close()
	if used := table.budget.Used(); used != 0 || !file.closed {
		t.Errorf("%d bytes left, file closed %v", used, file.closed)
	}
}
