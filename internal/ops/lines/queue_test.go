package lines

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is a file that knows whether it was closed.
type named struct {
	io.Writer
	closed int
}

func (n *named) Close() error { n.closed++; return nil }

func put(t *testing.T, q *queue, line string) {
	t.Helper()
	if n, err := q.Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("Write(%q): got %d, %v, want %d, nil", line, n, err, len(line))
	}
}

func TestQueueTakesLinesUpToItsLimitInBytes(t *testing.T) {
	q := newQueue(10)
	put(t, q, "1234\n")
	put(t, q, "12345\n") // one byte too many
	put(t, q, "5678\n")
	put(t, q, "\n")
	if got, want := string(q.take(nil).lines), "1234\n5678\n"; got != want {
		t.Errorf("take: got %q, want %q", got, want)
	}
	if dropped, _ := q.counts(); dropped != 2 {
		t.Errorf("dropped: got %d, want 2", dropped)
	}
	put(t, q, "123456789\n")
	put(t, q, "12345678901\n") // longer than the whole queue
	q.close()
	put(t, q, "x\n")
	b := q.take(nil)
	if got, want := string(b.lines), "123456789\n"; got != want || !b.last {
		t.Errorf("take after close: got %q, last %v, want %q, true", got, b.last, want)
	}
	if dropped, _ := q.counts(); dropped != 4 {
		t.Errorf("dropped: got %d, want 4", dropped)
	}
}

func TestQueueCutsAtTheFirstChangeOfFile(t *testing.T) {
	q := newQueue(100)
	first, second, late := &named{}, &named{}, &named{}
	put(t, q, "old\n")
	if unused, ok := q.switchTo(first); unused != nil || !ok {
		t.Errorf("first change: got %v, %v, want nil, true", unused, ok)
	}
	put(t, q, "new\n")
	if unused, ok := q.switchTo(second); unused != first || !ok {
		t.Errorf("second change: got %v, %v, want the first file back", unused, ok)
	}
	b := q.take(nil)
	got := []string{string(b.lines[:b.cut]), string(b.lines[b.cut:])}
	if diff := cmp.Diff([]string{"old\n", "new\n"}, got); diff != "" || b.next != second {
		t.Errorf("take: got %q for %v, want old and new for the second file", got, b.next)
	}
	put(t, q, "more\n")
	if b := q.take(b.lines); b.next != nil || b.cut != len(b.lines) {
		t.Errorf("next take: got file %v, cut %d, want none and everything before it", b.next, b.cut)
	}
	q.close()
	if unused, ok := q.switchTo(late); unused != late || ok {
		t.Errorf("change after close: got %v, %v, want the file back and false", unused, ok)
	}
}
