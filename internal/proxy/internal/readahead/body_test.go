package readahead

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/proxy/internal/flight"
	"edgeproxy/internal/route/client"
)

const piece = 1 << 10

// source gives left bytes, and then end.
type source struct {
	left   int
	end    error
	panics bool
	waits  chan struct{} // where it is there, a read at the end waits until the source is closed
	closed atomic.Int32
}

func (s *source) Read(p []byte) (int, error) {
	if s.left == 0 && s.panics {
		panic("in the midst")
	}
	if s.left == 0 && s.waits != nil {
		<-s.waits
		return 0, io.ErrClosedPipe
	}
	if s.left == 0 {
		return 0, s.end
	}
	n := min(len(p), piece, s.left)
	for i := range n {
		p[i] = byte(s.left - i)
	}
	s.left -= n
	return n, nil
}

func (s *source) Close() error {
	if s.closed.Add(1) == 1 && s.waits != nil {
		close(s.waits)
	}
	return nil
}

// allOf is what a source of n bytes gives.
func allOf(n int) []byte {
	b, _ := io.ReadAll(&source{left: n, end: io.EOF})
	return b
}

// bodiesOf returns Bodies with room for what is read ahead, and how many of them were.
func bodiesOf(t *testing.T) (s *Bodies, ahead *atomic.Int32, panics *rescue.Counter) {
	t.Helper()
	table := flight.NewTable[int, int](flight.Options{
		Budget: flight.NewBudget(1<<30, client.Part(1)), ObjectBytes: 1 << 20, Ahead: 1 << 20, Now: time.Now, Generation: func() uint64 { return 0 },
	})
	ahead, panics = &atomic.Int32{}, rescue.NewCounter(slog.New(slog.DiscardHandler))
	s = New(func(c netip.Prefix) *flight.Stream {
		ahead.Add(1)
		return table.Stream(c)
	}, time.Now, panics)
	t.Cleanup(s.Close)
	return s, ahead, panics
}

// take reads a as a client does that waits this long before it takes what it was given.
func take(a *Body, wait time.Duration, most int) (got []byte, err error) {
	for room := make([]byte, 4*piece); most != 0; most-- {
		var n int
		n, err = a.Read(room)
		got = append(got, room[:n]...)
		if err != nil {
			break
		}
		a.Sent(time.Now())
		time.Sleep(wait)
	}
	return got, err
}

var someone = netip.MustParsePrefix("192.0.2.1/32")

func TestABodyIsReadAheadOfASlowClientAlone(t *testing.T) {
	f := func(name string, wait time.Duration, want int32) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s, ahead, _ := bodiesOf(t)
			src, a := &source{left: 20 * piece, end: io.EOF}, &Body{}
			s.Begin(a, src, someone)
			got, err := take(a, wait, -1)
			if !errors.Is(err, io.EOF) || !bytes.Equal(got, allOf(20*piece)) {
				t.Errorf("%s: got %d bytes and %v, want all", name, len(got), err)
			}
			if ahead.Load() != want {
				t.Errorf("%s: got %d streams, want %d", name, ahead.Load(), want)
			}
			if a.Close(); src.closed.Load() == 0 {
				t.Errorf("%s: the source is open", name)
			}
		})
	}
	f("a client that takes all at once", 0, 0)
	f("a client that takes 10 ms for each piece", 10*time.Millisecond, 0)
	f("a client that takes 20 ms for each piece", 20*time.Millisecond, 1)
	f("a client that takes a second for each piece", time.Second, 1)
}

// A goroutine that waits in a write cannot notice it: the timer does.
func TestABodyIsReadAheadOfAClientThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ahead, _ := bodiesOf(t)
		src, a := &source{left: 20 * piece, end: io.EOF}, &Body{}
		s.Begin(a, src, someone)
		got, err := take(a, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * (slowAfter + sweepEvery))
		synctest.Wait()
		if src.left != 0 || ahead.Load() != 1 {
			t.Errorf("got %d bytes left and %d streams, want all read ahead", src.left, ahead.Load())
		}
		rest, err := take(a, 0, -1)
		if !errors.Is(err, io.EOF) || !bytes.Equal(append(got, rest...), allOf(20*piece)) {
			t.Errorf("got %d and %d bytes and %v, want all", len(got), len(rest), err)
		}
		a.Close()
	})
}

func TestTheEndOfTheSourceIsPassedOn(t *testing.T) {
	cut := errors.New("cut short")
	wrapped := errors.Join(cut, io.EOF) // a failure, and no end
	f := func(name string, src *source, want error, wantPanics int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s, _, panics := bodiesOf(t)
			a := &Body{}
			s.Begin(a, src, someone)
			got, err := take(a, time.Second, -1)
			if len(got) != 5*piece || !errors.Is(err, want) || want == io.EOF && err != io.EOF { //nolint:errorlint // the very one
				t.Errorf("%s: got %d bytes and %v, want %d and %v", name, len(got), err, 5*piece, want)
			}
			if panics.Count() != wantPanics {
				t.Errorf("%s: got %d panics, want %d", name, panics.Count(), wantPanics)
			}
			a.Close()
		})
	}
	f("whole", &source{left: 5 * piece, end: io.EOF}, io.EOF, 0)
	f("cut", &source{left: 5 * piece, end: cut}, cut, 0)
	f("cut by what is an end as well", &source{left: 5 * piece, end: wrapped}, cut, 0)
	f("a panic", &source{left: 5 * piece, panics: true}, errPanicked, 1)
}

// A client that leaves ends what reads ahead, and so does the end of all of them.
func TestClosingEndsWhatReadsAhead(t *testing.T) {
	f := func(name string, end func(s *Bodies, a *Body)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s, ahead, _ := bodiesOf(t)
			src, a := &source{left: 5 * piece, waits: make(chan struct{})}, &Body{}
			s.Begin(a, src, someone)
			if _, err := take(a, time.Second, 2); err != nil || ahead.Load() != 1 {
				t.Fatalf("got %v and %d streams, want one", err, ahead.Load())
			}
			end(s, a)
			s.Close() // waits for what reads ahead
			if src.closed.Load() == 0 {
				t.Errorf("%s: the source is open", name)
			}
		})
	}
	f("the body", func(_ *Bodies, a *Body) { a.Close() })
	f("all bodies", func(s *Bodies, _ *Body) { s.Close() })
	f("the body twice", func(_ *Bodies, a *Body) { a.Close(); a.Close() })
}

func TestNothingIsReadAheadOnceAllIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ahead, _ := bodiesOf(t)
		s.Close()
		a := &Body{}
		s.Begin(a, &source{left: 20 * piece, end: io.EOF}, someone)
		got, err := take(a, time.Second, -1)
		if len(got) != 20*piece || !errors.Is(err, io.EOF) || ahead.Load() != 0 {
			t.Errorf("got %d bytes, %v and %d streams, want all, at the client's pace", len(got), err, ahead.Load())
		}
		a.Close()
	})
}

func TestTheZeroBodyIsNone(t *testing.T) {
	var a Body
	if a.Sent(time.Unix(1, 0)); a.Begun() {
		t.Error("the zero Body has begun")
	}
}

func TestAReadAfterCloseWasAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := bodiesOf(t)
		a := &Body{}
		s.Begin(a, &source{left: piece, end: io.EOF}, someone)
		for range 2 {
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := a.Read(make([]byte, piece)); n != 0 || err == nil {
			t.Errorf("got %d bytes and %v, want an error", n, err)
		}
	})
}
