package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/ops/lines"
)

// gate is a writer that waits for open before each write.
type gate struct {
	open chan struct{}
	buf  bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.buf.Write(p)
}

// shared is a buffer that a test reads while the writer may write, for its rest ends by the clock.
type shared struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	calls int
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.buf.Write(p)
}

// lines is how many lines were written.
func (s *shared) lines() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.buf.Bytes(), []byte{'\n'})
}

func (s *shared) writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func mustNew(t *testing.T, w io.Writer, o Options) *Log {
	t.Helper()
	l, err := New(w, o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return l
}

func mustClose(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func numbered(n int) *Line { return &Line{Target: fmt.Appendf(nil, "/%06d", n)} }

func TestStuckWriterNeverBlocksARequestAndDropsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size := len(written(t, numbered(0)))
		g := &gate{open: make(chan struct{})}
		l := mustNew(t, g, Options{QueueBytes: 10 * size})
		l.Write(numbered(0))
		synctest.Wait() // the writer holds line 0 and is stuck
		start := time.Now()
		for n := 1; n <= 25; n++ {
			l.Write(numbered(n))
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("Write waited %v, want 0", d)
		}
		if got := l.Dropped(); got != 15 {
			t.Errorf("Dropped: got %d, want 15", got)
		}
		close(g.open)
		mustClose(t, l)
		if got := strings.Count(g.buf.String(), "\n"); got != 11 {
			t.Errorf("lines written: got %d, want 11", got)
		}
		if !strings.Contains(g.buf.String(), "/000010") || strings.Contains(g.buf.String(), "/000011") {
			t.Error("want the oldest lines kept and the newest dropped")
		}
	})
}

// A line that finds the log quiet leaves at once, and one behind it no later than gather.
func TestLinesOfAQuietLogLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf shared
		l := mustNew(t, &buf, Options{})
		for n := range 3 {
			l.Write(numbered(2 * n))
			synctest.Wait() // the writer has written, and rests
			if got, want := buf.lines(), 2*n+1; got != want {
				t.Errorf("a line of a quiet log: got %d lines written, want %d", got, want)
			}
			l.Write(numbered(2*n + 1))
			synctest.Wait()
			if got, want := buf.lines(), 2*n+1; got != want {
				t.Errorf("the line behind it: got %d lines written, want %d and the writer at rest", got, want)
			}
			time.Sleep(gather)
			synctest.Wait()
			if got, want := buf.lines(), 2*n+2; got != want {
				t.Errorf("after the rest: got %d lines written, want %d", got, want)
			}
			time.Sleep(gather)
		}
		mustClose(t, l)
	})
}

// A busy log rested for 5 ms between two writes. What 200 writes a second cost beside their lines was half of what a log took.
func TestABusyLogWroteTwoHundredTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf shared
		l := mustNew(t, &buf, Options{})
		for n := range 1000 {
			l.Write(numbered(n))
			time.Sleep(time.Millisecond)
		}
		mustClose(t, l)
		if got := buf.writes(); got > 25 || buf.lines() != 1000 {
			t.Errorf("a second of 1000 lines: got %d lines in %d writes, want all in at most 25", buf.lines(), got)
		}
	})
}

// A quarter of the queue does not wait, nor does what Reopen or Close ask for.
func TestRestEndsWhenThereIsMuchToWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size := len(written(t, numbered(0)))
		var buf shared
		l := mustNew(t, &buf, Options{QueueBytes: 40 * size})
		start := time.Now()
		l.Write(numbered(0))
		synctest.Wait()
		for n := range 10 {
			l.Write(numbered(n))
		}
		synctest.Wait()
		if got := buf.lines(); got != 11 {
			t.Errorf("a quarter of the queue: got %d lines written, want 11", got)
		}
		l.Write(numbered(1))
		mustClose(t, l)
		if d := time.Since(start); d != 0 {
			t.Errorf("took %v, want 0", d)
		}
	})
}

func TestCallerMayReuseItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		l := mustNew(t, g, Options{})
		target := []byte("/before")
		line := &Line{Target: target}
		l.Write(line)
		copy(target, "/AFTER!")
		*line = Line{}
		close(g.open)
		mustClose(t, l)
		if got := decode(t, g.buf.String()).Target; got != "/before" {
			t.Errorf("target: got %q, want /before", got)
		}
	})
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		l := mustNew(t, g, Options{})
		for n := range 100 {
			l.Write(numbered(n))
		}
		time.AfterFunc(closeWait-time.Second, func() { close(g.open) })
		mustClose(t, l)
		if got := strings.Count(g.buf.String(), "\n"); got != 100 {
			t.Errorf("lines written: got %d, want 100", got)
		}
	})
}

func TestCloseGivesUpOnAWriteThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		l := mustNew(t, g, Options{})
		l.Write(numbered(0))
		start := time.Now()
		if err := l.Close(); !errors.Is(err, lines.ErrCloseTimeout) {
			t.Errorf("Close: got %v, want lines.ErrCloseTimeout", err)
		}
		if d := time.Since(start); d != closeWait {
			t.Errorf("Close took %v, want %v", d, closeWait)
		}
		close(g.open) // the goroutine must end by itself, or the bubble fails
	})
}

func TestWriteAfterCloseIsACountedDrop(t *testing.T) {
	var buf bytes.Buffer
	l := mustNew(t, &buf, Options{})
	mustClose(t, l)
	l.Write(numbered(0))
	mustClose(t, l) // a second Close is the first's answer
	if got := l.Dropped(); got != 1 || buf.Len() != 0 {
		t.Errorf("got %d drops and %q written, want 1 and nothing", got, buf.String())
	}
}

func TestEveryLineIsWrittenOnceOrCountedAsDropped(t *testing.T) {
	const writers, each = 4, 500
	var buf bytes.Buffer
	l := mustNew(t, &buf, Options{QueueBytes: 2000})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				l.Write(numbered(w*each + n))
				_ = l.Dropped()
			}
		})
	}
	wg.Wait()
	mustClose(t, l)
	seen := map[string]bool{}
	for s := range strings.Lines(buf.String()) {
		seen[decode(t, s).Target] = true
	}
	if got := uint64(len(seen)) + l.Dropped(); got != writers*each {
		t.Errorf("distinct lines + drops: got %d + %d, want %d", len(seen), l.Dropped(), writers*each)
	}
	if lines := strings.Count(buf.String(), "\n"); lines != len(seen) {
		t.Errorf("got %d lines, %d of them distinct: a line was written twice", lines, len(seen))
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	f := func(w io.Writer, o Options, want string) {
		t.Helper()
		l, err := New(w, o)
		if err == nil {
			_ = l.Close()
		}
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("New (-want +got):\n%s", diff)
		}
	}
	f(nil, Options{}, "access log: no writer")
	f(io.Discard, Options{QueueBytes: -1}, "access log: queue of -1 bytes: must be 0 or more")
}
