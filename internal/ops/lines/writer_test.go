package lines

import (
	"errors"
	"testing"

	"edgeproxy/internal/test/testkit"
)

func TestFailedBatchCountsOnlyTheLinesLost(t *testing.T) {
	q := newQueue(1000)
	d := &testkit.Disk{Room: len("aa\nbb\nc")}
	w := &writer{queue: q, out: d}
	w.write([]byte("aa\nbb\ncc\ndd\n"))
	if dropped, failed := q.counts(); dropped != 2 || failed != 1 {
		t.Errorf("got %d lines dropped, %d errors, want 2 and 1", dropped, failed)
	}
	d.Room = 100
	w.write([]byte("ee\n"))
	if got, want := d.String(), "aa\nbb\nc\nee\n"; got != want {
		t.Errorf("file: got %q, want %q", got, want)
	}
}

func TestFileIsLeftAtTheEndOfALine(t *testing.T) {
	q := newQueue(1000)
	old, next := &testkit.Disk{Room: 1}, &testkit.Disk{Room: 100}
	w := &writer{queue: q, out: old, closer: old}
	w.write([]byte("aa\n"))
	old.Room = 100
	w.replace(next)
	w.write([]byte("b\n"))
	if got := old.String() + "|" + next.String(); got != "a\n|b\n" {
		t.Errorf("files: got %q, want %q", got, "a\n|b\n")
	}
	next.Room = 1
	w.write([]byte("cc\n"))
	if err := w.close(); !errors.Is(err, testkit.ErrDiskFull) {
		t.Errorf("close on a full disk: got %v, want it to wrap the cause", err)
	}
}

func TestErrorOfClosingTheOldFileIsReported(t *testing.T) {
	q := newQueue(1000)
	old := &testkit.Disk{CloseErr: testkit.ErrDiskFull}
	var got error
	w := &writer{queue: q, out: old, closer: old, onError: func(err error) { got = err }}
	w.replace(&testkit.Disk{})
	if _, failed := q.counts(); failed != 1 || !errors.Is(got, testkit.ErrDiskFull) {
		t.Errorf("got %d errors, report %v, want 1 and the cause", failed, got)
	}
}

// liar breaks the rules of io.Writer.
type liar int

func (n liar) Write([]byte) (int, error) { return int(n), nil }

func TestWriterThatMiscountsDoesNoHarm(t *testing.T) {
	f := func(n liar, want int, fails bool) {
		t.Helper()
		got, err := writeAll(n, []byte("abcd"))
		if got != want || (err != nil) != fails {
			t.Errorf("writer says %d of 4: got %d, %v, want %d, failure %v", n, got, err, want, fails)
		}
	}
	f(-1, 0, true)
	f(0, 0, true)
	f(4, 4, false)
	f(9, 4, false)
}
